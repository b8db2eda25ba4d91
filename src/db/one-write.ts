// Writes everything that is sent on a connection in one turn of the event loop to its socket in one call: a transaction
// over HTTP sends several statements together. Each system call costs this process time, and each one that finds the
// database's process asleep costs that process a wake-up.
import type { Duplex } from 'node:stream';

/** Returns a function that holds back what is written after its call until the end of the turn. */
export function corkPerTurn(stream: Duplex): () => void {
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
