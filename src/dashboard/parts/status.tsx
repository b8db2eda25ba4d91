// Tells screen readers that an answer is awaited, once that is also shown in words, and then what has arrived. It
// always stays in the page, because only changes within it are read out, and outside the element that is busy.
import { useEffect, useState } from 'preact/hooks';
import { TEXT_AFTER_S } from './waiting.tsx';

interface StatusProps {
  /** What is awaited. */
  what: string;
  isAsking: boolean;
  /** What has arrived; empty if that is announced elsewhere. */
  words: string;
}

export function Status({ what, isAsking, words }: StatusProps) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!isAsking) return undefined;
    const timer = setTimeout(() => setLong(true), TEXT_AFTER_S * 1000);
    return () => clearTimeout(timer);
  }, [isAsking]);
  const waiting = isLong ? `Loading ${what}` : '';
  return (
    <p class="unseen" role="status">
      {isAsking ? waiting : words}
    </p>
  );
}
