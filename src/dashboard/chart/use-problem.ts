// What is said beside a part of the page where something failed.
import { useEffect, useState } from 'preact/hooks';

/** Empty while there is nothing to say, and again once another question is asked: what was wrong with one says nothing about the next. */
export function useProblem(question: string): [string, (words: string) => void] {
  const [problem, setProblem] = useState('');
  useEffect(() => setProblem(''), [question]);
  return [problem, setProblem];
}
