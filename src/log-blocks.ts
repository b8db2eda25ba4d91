// Where lines of the log are gathered into blocks. Not left to pino's destination: that measures its whole block anew at every
// line, which was half of what a line cost.
import pino, { type DestinationStream } from 'pino';

const BLOCK_LENGTH = 8_192;
const LATEST_MS = 100;

/** Writes blocks to the file, a tenth of a second late at most; the rest when the process ends. */
export function writeInBlocks(fd: number): DestinationStream & { flushSync: () => void } {
  let block = '';
  let isClosed = false;

  /** The file begins to write what is as long as a block, and keeps anything shorter until it is flushed. */
  function handOver(): void {
    if (block === '') return;
    file.write(block);
    block = '';
  }

  function flushSync(): void {
    if (isClosed) return;
    // Twice: joined to what the file kept, the rest could be a block, which would be written too late for an ending process.
    file.flushSync();
    handOver();
    file.flushSync();
  }

  // Before the file's own listener, which ends it.
  process.on('beforeExit', handOver);
  process.on('exit', flushSync);
  const file = pino.destination({ dest: fd, sync: false, minLength: BLOCK_LENGTH });
  file.once('close', () => {
    isClosed = true;
  });
  setInterval(() => {
    handOver();
    file.flush();
  }, LATEST_MS).unref();

  return {
    write(line) {
      block += line;
      if (block.length >= BLOCK_LENGTH) handOver();
    },
    flushSync,
  };
}
