// Where lines of the log are gathered into blocks. Not left to pino's destination: that measures its whole block anew at every
// line, which was half of what a line cost.
import pino, { type DestinationStream } from 'pino';

/** Handing a block to the file wakes a thread, which costs as much as some dozens of lines. */
const BLOCK_LENGTH = 65_536;
const LATEST_MS = 100;
/** Of lines that the file does not take: nobody reads the pipe, or the disk is full. Those that come then are lost. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

interface Options {
  /** Told how many lines were lost, when the file takes lines again. */
  onLost: (lines: number) => void;
  mostWaitingBytes?: number;
}

/** Writes blocks to the file, a tenth of a second late at most; the rest when the process ends. */
export function writeInBlocks(
  fd: number,
  { onLost, mostWaitingBytes = MOST_WAITING_BYTES }: Options,
): DestinationStream & { flush: (onTaken: () => void) => void; flushSync: () => void } {
  let block = '';
  let lost = 0;
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
  const file = pino.destination({
    dest: fd,
    sync: false,
    minLength: BLOCK_LENGTH,
    // Has to be larger than minLength, which its default is not.
    maxWrite: 2 * BLOCK_LENGTH,
    maxLength: mostWaitingBytes,
  });
  // It keeps what could not be written and tries again with the next block; without a listener the process would end. Its flushSync, which
  // runs when the process ends, would try for ever.
  let isFailing = false;
  file.on('error', () => {
    isFailing = true;
  });
  file.on('write', () => {
    isFailing = false;
  });
  const flushFile = file.flushSync.bind(file);
  file.flushSync = () => {
    if (!isFailing && lost === 0) flushFile();
  };
  file.on('drop', (dropped: string) => {
    lost += dropped.split('\n').length - 1;
  });
  file.on('drain', () => {
    if (lost === 0) return;
    onLost(lost);
    lost = 0;
  });
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
    /** Calls once the file has taken what there is, or cannot. */
    flush(onTaken) {
      handOver();
      // Not the file's callback, which waits until it is on disk.
      file.once('drain', onTaken).once('error', onTaken);
      file.flush();
    },
    flushSync,
  };
}
