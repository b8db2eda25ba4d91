// What is sent on a connection in one turn of the event loop is written to its socket in one call. Each call into the kernel costs this process, and
// each that finds the database's process asleep costs that one to wake up: a transaction over HTTP sends several statements at once.
import type { Duplex } from 'node:stream';

/** Holds back what is written from the call on until the end of the turn. */
export function writingAtOnce(stream: Duplex): () => void {
  let isHeld = false;
  return () => {
    if (isHeld) return;
    isHeld = true;
    stream.cork();
    process.nextTick(() => {
      isHeld = false;
      stream.uncork();
    });
  };
}
