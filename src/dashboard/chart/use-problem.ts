// The message beside a part of the page in which something failed.
import { useEffect, useState } from 'preact/hooks';

/**
 * Returns the message, empty if there is none, and its setter. A new question clears it: what was wrong with one
 * question says nothing about the next.
 */
export function useProblem(question: string): [string, (words: string) => void] {
  const [problem, setProblem] = useState('');
  useEffect(() => setProblem(''), [question]);
  return [problem, setProblem];
}
