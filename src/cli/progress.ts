// Shows the progress of an import on standard error: a bar on a terminal, otherwise a line now and then, for the
// readers of a log.
import cliProgress from 'cli-progress';
import type { ImportOptions } from '../import/import-file.ts';

const LINE_EVERY_MS = 30_000;

export interface Progress {
  onProgress: NonNullable<ImportOptions['onProgress']>;
  stop: () => void;
}

function startBar(): Progress {
  const format = '{bar} {percentage}%  {read} read, {written} written, {rejected} rejected';
  const bar = new cliProgress.SingleBar(
    { format, stream: process.stderr, hideCursor: true },
    cliProgress.Presets.shades_classic,
  );
  bar.start(1, 0, { read: 0, written: 0, rejected: 0 });
  return {
    onProgress: ({ bytes, sizeBytes, ...counts }) => {
      bar.setTotal(Math.max(1, sizeBytes));
      bar.update(bytes, counts);
    },
    stop: () => bar.stop(),
  };
}

/** An import that takes less than half a minute prints no lines. */
export function createLineProgress(write: (line: string) => void): Progress {
  let printedAt = performance.now();
  return {
    onProgress: ({ bytes, sizeBytes, read, written, rejected }) => {
      if (performance.now() - printedAt < LINE_EVERY_MS) return;
      printedAt = performance.now();
      // A pipe has no size.
      const share = sizeBytes > 0 ? `${Math.floor((100 * bytes) / sizeBytes)}%  ` : '';
      write(`${share}${read} read, ${written} written, ${rejected} rejected\n`);
    },
    stop: () => undefined,
  };
}

export function startProgress(): Progress {
  return process.stderr.isTTY ? startBar() : createLineProgress((line) => process.stderr.write(line));
}
