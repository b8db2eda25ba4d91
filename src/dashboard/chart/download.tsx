// Downloads the chart as a CSV file, from the same operation. The page makes the file, so no URL holds the key.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChartRecord } from '../service/answers.ts';
import { toOneLine } from '../service/failure.ts';
import { useService } from '../service/use-service.ts';
import { type ChartView, toRequest } from '../view/view.ts';
import { type ChartAnswer, questionOf } from './question.ts';
import { useProblem } from './use-problem.ts';

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

interface DownloadProps {
  chart: ChartRecord;
  view: ChartView;
  /** The answer shown; the previous one while the next is awaited. */
  answer: ChartAnswer;
}

export function Download({ chart, view, answer }: DownloadProps) {
  const { client, handleFailure } = useService();
  const [bytes, setBytes] = useState<number | null>(null);
  const [words, setWords] = useState('');
  const [problem, setProblem] = useProblem(questionOf(view));
  const running = useRef<AbortController | null>(null);
  // After this component has been unmounted, nobody waits for the file any more.
  useEffect(() => () => running.current?.abort(), []);

  async function download() {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setBytes(0);
    setWords('Downloading');
    setProblem('');
    try {
      // The days that are shown, even if another day has begun since.
      const isShown = questionOf(answer.view) === questionOf(view);
      const today = isShown ? answer.today : await client.askToday(view.zone, signal);
      const { name, blob } = await client.fetchCsv({ body: toRequest(view, today), zone: view.zone, signal }, setBytes);
      save(blob, name);
      setWords(`Saved ${name}`);
    } catch (error) {
      if (signal.aborted) return;
      setWords('');
      setProblem(toOneLine(handleFailure(error)));
    }
    setBytes(null);
  }

  function stop() {
    running.current?.abort();
    setBytes(null);
    setWords('Stopped');
  }

  function toggleDownload({ detail }: MouseEvent) {
    if (bytes === null) download();
    // The first click turns the button into Stop; the second click of a double-click was not meant for that.
    else if (detail < 2) stop();
  }

  return (
    <div class="download">
      <button
        type="button"
        onClick={toggleDownload}
        aria-label={bytes === null ? `Download ${chart.metric_name} as CSV` : 'Stop the download'}
      >
        {bytes === null ? 'CSV' : `Stop, ${formatSize(bytes)}`}
      </button>
      <span class="unseen" role="status">
        {words}
      </span>
      {problem && (
        <p class="hint" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
