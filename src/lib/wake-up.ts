// A wake-up for a loop: whoever finds something to do calls `wake`. A wake-up that comes while nobody waits is kept.

export interface WakeUp {
  wake: () => void;
  /** Resolves at the next wake-up (immediately if there was one since the last wait) or after `timeoutMs`. */
  wait: (timeoutMs: number) => Promise<void>;
}

export function createWakeUp(): WakeUp {
  let isSet = false;
  let resume: (() => void) | undefined;
  return {
    wake() {
      isSet = true;
      resume?.();
    },
    async wait(timeoutMs) {
      if (!isSet) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          resume = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isSet = false;
    },
  };
}
