// For screen readers: that an answer is awaited, where that is in words for others, too; then what has come. It stays in the page, as
// only what changes in it is read, and outside of what is busy.
import { useEffect, useState } from 'preact/hooks';
import { WORDS_AFTER_S } from './waiting.tsx';

interface StatusProps {
  /** What is awaited. */
  what: string;
  isAsking: boolean;
  /** What has come; nothing where it is said otherwise. */
  words: string;
}

export function Status({ what, isAsking, words }: StatusProps) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!isAsking) return undefined;
    const timer = setTimeout(() => setLong(true), WORDS_AFTER_S * 1000);
    return () => clearTimeout(timer);
  }, [isAsking]);
  const waiting = isLong ? `Loading ${what}` : '';
  return (
    <p class="unseen" role="status">
      {isAsking ? waiting : words}
    </p>
  );
}
