// Asks the service from within a component: one answer per question; the old one is shown until the new one arrives.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from './failure.ts';
import { useService } from './use-service.ts';

/** How long an answer counts as current. */
const FRESH_MS = 300_000;

interface State<T> {
  /** The newest answer; the previous one while the next is awaited. */
  answer: T | undefined;
  failure: Failure | undefined;
  /** Whether an answer is awaited. */
  isAsking: boolean;
}

export interface Asked<T> extends State<T> {
  askAgain: () => void;
  /** Aborts the running request. */
  stop: () => void;
}

/**
 * Asks whenever `question` changes, and again when the user returns to the tab after the answer has become stale. A
 * request that nobody waits for any more is aborted, here and in the service.
 */
export function useAnswer<T>(question: string, ask: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const { handleFailure } = useService();
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<State<T>>({ answer: undefined, failure: undefined, isAsking: true });
  const running = useRef<AbortController | undefined>(undefined);
  const askAgain = () => setAttempt((count) => count + 1);
  const settle = (answer: T | undefined, failure?: Failure) => setState({ answer, failure, isAsking: false });

  // `question` stands for everything that `ask` asks.
  useEffect(() => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    setState(({ answer }) => ({ answer, failure: undefined, isAsking: true }));
    ask(signal).then(
      (answer) => {
        if (!signal.aborted) settle(answer);
      },
      (error) => {
        if (!signal.aborted) settle(undefined, handleFailure(error));
      },
    );
    return () => controller.abort();
  }, [question, attempt]);

  // A failure stays until the user tries again.
  useEffect(() => {
    if (state.answer === undefined || state.isAsking) return undefined;
    const answeredAt = Date.now();
    const refresh = () => {
      if (document.visibilityState === 'visible' && Date.now() - answeredAt > FRESH_MS) askAgain();
    };
    document.addEventListener('visibilitychange', refresh);
    return () => document.removeEventListener('visibilitychange', refresh);
  }, [state]);

  return {
    ...state,
    askAgain,
    stop: () => {
      running.current?.abort();
      settle(undefined, new Failure('stopped', 'Stopped before the answer arrived.'));
    },
  };
}
