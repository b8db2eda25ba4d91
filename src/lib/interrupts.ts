// Ctrl-C and termination signals. Under npm, the terminal and npm both send the signal, so a repeat within two seconds
// counts as the same one.
const REPEAT_MS = 2_000;

/** Calls `onFirst` for the first signal and `onAgain` for each later one. Returns a function that stops listening. */
export function onInterrupts(
  signals: readonly NodeJS.Signals[],
  { onFirst, onAgain }: { onFirst: () => void; onAgain: () => void },
): () => void {
  let lastAt: number | undefined;
  const listener = () => {
    const now = performance.now();
    if (lastAt === undefined) onFirst();
    else if (now - lastAt > REPEAT_MS) onAgain();
    else return;
    lastAt = now;
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
