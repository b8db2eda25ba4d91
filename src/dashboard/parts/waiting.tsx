// Shows that an answer is awaited: by a bar immediately; after two seconds also by the time so far and, given `onStop`,
// a button.
import { useEffect, useState } from 'preact/hooks';
import { VanishingButton } from './vanishing-button.tsx';

export const TEXT_AFTER_S = 2;

export function Waiting({ what, onStop }: { what: string; onStop?: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="waiting">
      <progress aria-label={`Loading ${what}`} />
      {seconds >= TEXT_AFTER_S && (
        <p class="waiting-words">
          Loading {what}, {seconds} s
          {onStop && (
            <VanishingButton class="quiet" onClick={onStop}>
              Stop
            </VanishingButton>
          )}
        </p>
      )}
    </div>
  );
}
