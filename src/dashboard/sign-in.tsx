// The sign-in form: tries a secret key against the service, then keeps it for this tab.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { setTabTitle } from './parts/heading.tsx';
import type { Catalogue } from './service/answers.ts';
import { askCatalogue, createClient } from './service/client.ts';
import { failureOf, toOneLine } from './service/failure.ts';

interface SignInProps {
  /** Why the user has to sign in again; null if there is nothing to explain. */
  reason: string | null;
  onSignedIn: (key: string, catalogue: Catalogue) => void;
}

/** Returns what is wrong with a key, as far as its form shows. */
function checkFormat(key: string): string | null {
  if (key === '') return 'Paste a secret key first.';
  if (key.startsWith('public_')) return 'This is a public key. The dashboard needs a secret key.';
  return null;
}

async function tryKey(key: string): Promise<Catalogue> {
  const [catalogue] = await Promise.all([askCatalogue(), createClient(key).askToday(null)]);
  return catalogue;
}

export function SignIn({ reason, onSignedIn }: SignInProps) {
  const [typed, setTyped] = useState('');
  const [isTrying, setTrying] = useState(false);
  const [problem, setProblem] = useState(reason);
  /** Whether the key is the problem, rather than the service or the connection to it. */
  const [isWrongKey, setWrongKey] = useState(reason !== null);
  const field = useRef<HTMLInputElement>(null);
  // Before paint, so that nothing the user types is lost.
  useLayoutEffect(() => {
    setTabTitle('Sign in');
    field.current?.focus();
  }, []);

  function signIn(event: Event) {
    event.preventDefault();
    if (isTrying) return;
    const key = typed.trim();
    const formatProblem = checkFormat(key);
    setProblem(formatProblem);
    setWrongKey(formatProblem !== null);
    if (formatProblem) return;
    setTrying(true);
    tryKey(key).then(
      (catalogue) => onSignedIn(key, catalogue),
      (error) => {
        const failure = failureOf(error);
        const isRefused = failure.kind === 'refused_key';
        setProblem(
          isRefused ? 'This key is not accepted: it is unknown, revoked or not a secret key.' : toOneLine(failure),
        );
        setWrongKey(isRefused);
        setTrying(false);
      },
    );
  }

  return (
    <main class="sign-in">
      <form class="card" onSubmit={signIn}>
        <h1>Dashboard</h1>
        <label class="field">
          <span class="field-label">Secret key</span>
          <input
            ref={field}
            type="password"
            autocomplete="off"
            spellcheck={false}
            placeholder="secret_live_…"
            value={typed}
            aria-invalid={isWrongKey}
            aria-describedby="key-help key-problem"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <p id="key-problem" class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" aria-disabled={isTrying}>
          {isTrying ? 'Signing in…' : 'Sign in'}
        </button>
        <p id="key-help" class="muted">
          Preferably use a key with the <code>analytics</code> scope, which is read-only. The key stays in this tab, is
          sent to this service alone, and is forgotten when you sign out or close the tab.
        </p>
      </form>
    </main>
  );
}
