// The chart that is shown as a CSV file, by the same operation. The file is made here from the answer: no address holds the key.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChartRecord } from '../service/answers.ts';
import { inOneLine } from '../service/failure.ts';
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
  /** What is shown; while the next is awaited, the one before. */
  answer: ChartAnswer;
}

export function Download({ chart, view, answer }: DownloadProps) {
  const { client, takeFailure } = useService();
  const [bytes, setBytes] = useState<number | null>(null);
  const [words, setWords] = useState('');
  const [problem, setProblem] = useProblem(questionOf(view));
  const running = useRef<AbortController | null>(null);
  // Of a part that is gone nobody waits for the file any more.
  useEffect(() => () => running.current?.abort(), []);

  async function download() {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setBytes(0);
    setWords('Downloading');
    setProblem('');
    try {
      // The days that are shown, also where another day has begun since.
      const isShown = questionOf(answer.view) === questionOf(view);
      const today = isShown ? answer.today : await client.askToday(view.zone, signal);
      const { name, blob } = await client.fetchCsv({ body: toRequest(view, today), zone: view.zone, signal }, setBytes);
      save(blob, name);
      setWords(`Saved ${name}`);
    } catch (error) {
      if (signal.aborted) return;
      setWords('');
      setProblem(inOneLine(takeFailure(error)));
    }
    setBytes(null);
  }

  function stop() {
    running.current?.abort();
    setBytes(null);
    setWords('Stopped');
  }

  function switchDownload({ detail }: MouseEvent) {
    if (bytes === null) download();
    // The second click of a double one was not meant for what the first made of the button.
    else if (detail < 2) stop();
  }

  return (
    <div class="download">
      <button
        type="button"
        onClick={switchDownload}
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
