// Gathers lines of the log into blocks. This is not left to pino's destination, which measures its whole block again at
// every line: that was half the cost of a line.
import pino, { type DestinationStream } from 'pino';

/** Handing a block to the file wakes a thread, which costs as much as a few dozen lines. */
const BLOCK_LENGTH = 65_536;
const FLUSH_EVERY_MS = 100;
/**
 * Bound of the lines that the file does not take, because nobody reads the pipe or the disk is full. Lines beyond it
 * are lost.
 */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface Options {
  /** Called with the number of lost lines once the file takes lines again. */
  onLost: (lines: number) => void;
  maxWaitingBytes?: number;
}

/** Writes blocks to the file, at most a tenth of a second late, and the rest when the process ends. */
export function writeInBlocks(
  fd: number,
  { onLost, maxWaitingBytes = MAX_WAITING_BYTES }: Options,
): DestinationStream & { flush: (onTaken: () => void) => void; flushSync: () => void } {
  let block = '';
  let lost = 0;
  let isClosed = false;

  /**
   * Hands the block to the file, which starts writing when it has a full block, and keeps anything shorter until it is
   * flushed.
   */
  function handOver(): void {
    if (block === '') return;
    file.write(block);
    block = '';
  }

  function flushSync(): void {
    if (isClosed) return;
    // Twice: together with what the file has kept, the rest could make a full block, which would be written too late
    // for an ending process.
    file.flushSync();
    handOver();
    file.flushSync();
  }

  // Registered before the file's own listener, which ends the file.
  process.on('beforeExit', handOver);
  process.on('exit', flushSync);
  const file = pino.destination({
    dest: fd,
    sync: false,
    minLength: BLOCK_LENGTH,
    // Has to be larger than minLength, which the default is not.
    maxWrite: 2 * BLOCK_LENGTH,
    maxLength: maxWaitingBytes,
  });
  // The file keeps what it could not write and retries with the next block; without a listener, the process would end.
  // Its flushSync, which runs when the process ends, would retry for ever.
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
  }, FLUSH_EVERY_MS).unref();

  return {
    write(line) {
      block += line;
      if (block.length >= BLOCK_LENGTH) handOver();
    },
    /** Calls back once the file has taken everything, or cannot. */
    flush(onTaken) {
      handOver();
      // Not the file's callback, which waits until the data is on disk.
      file.once('drain', onTaken).once('error', onTaken);
      file.flush();
    },
    flushSync,
  };
}
