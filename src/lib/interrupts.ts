// Ctrl-C and requests to end. Under npm both the terminal and npm send the signal: what comes again within a moment is the same one.
const REPEAT_MS = 2_000;

/** Calls `onFirst` once, then `onAgain` for each that is meant anew. Returns how to stop listening. */
export function onInterrupts(
  signals: readonly NodeJS.Signals[],
  { onFirst, onAgain }: { onFirst: () => void; onAgain: () => void },
): () => void {
  let heardAt: number | undefined;
  const listener = () => {
    const now = performance.now();
    if (heardAt === undefined) onFirst();
    else if (now - heardAt > REPEAT_MS) onAgain();
    else return;
    heardAt = now;
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
