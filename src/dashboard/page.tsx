// The page: the sign-in form, or the navigation and the view that the address names.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ChartPage } from './chart/chart-page.tsx';
import { EventFeed } from './feed/event-feed.tsx';
import { Navigation } from './navigation.tsx';
import { Overview } from './overview/overview.tsx';
import { Heading } from './parts/heading.tsx';
import { FailureNotice } from './parts/notice.tsx';
import { Waiting } from './parts/waiting.tsx';
import type { Catalogue } from './service/answers.ts';
import { askCatalogue, createClient } from './service/client.ts';
import { type Failure, failureOf } from './service/failure.ts';
import { forgetKey, keepKey, readKey } from './service/session.ts';
import { findChart, ServiceContext } from './service/use-service.ts';
import { SignIn } from './sign-in.tsx';
import { useView } from './view/use-view.ts';
import type { View } from './view/view.ts';

function CurrentView({ view, catalogue }: { view: View; catalogue: Catalogue }) {
  if (view.page === 'overview') return <Overview />;
  if (view.page === 'events') return <EventFeed view={view} />;
  const chart = findChart(catalogue, view.chart_id);
  if (chart) return <ChartPage key={chart.chart_id} chart={chart} view={view} />;
  return (
    <header class="view-header">
      <Heading title="No such chart" />
      <p>
        The service has no chart <code>{view.chart_id}</code>. <a href="#/">Go to the overview</a>
      </p>
    </header>
  );
}

/** Fetches the catalogue if there is a key but no catalogue: a reloaded tab still has its key. */
function useCatalogue(key: string | null) {
  const [catalogue, setCatalogue] = useState<Catalogue | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const isMissing = key !== null && catalogue === null && failure === null;
  useEffect(() => {
    if (!isMissing) return;
    const controller = new AbortController();
    askCatalogue(controller.signal).then(setCatalogue, (error) => {
      if (!controller.signal.aborted) setFailure(failureOf(error));
    });
    return () => controller.abort();
  }, [isMissing]);
  return { catalogue, setCatalogue, failure, askAgain: () => setFailure(null) };
}

export function Page() {
  const view = useView();
  const [key, setKey] = useState(readKey);
  const current = useRef(key);
  current.current = key;
  const [reason, setReason] = useState<string | null>(null);
  const { catalogue, setCatalogue, failure, askAgain } = useCatalogue(key);

  const service = useMemo(() => {
    if (key === null || !catalogue) return null;
    const handleFailure = (error: unknown) => {
      const failure = failureOf(error);
      // A request that was sent with an earlier key says nothing about this one.
      if (failure.kind === 'refused_key' && current.current === key) {
        forgetKey();
        setReason('The key is no longer accepted. Sign in with another one.');
        setKey(null);
      }
      return failure;
    };
    return { client: createClient(key), catalogue, handleFailure };
  }, [key, catalogue]);

  function signIn(accepted: string, known: Catalogue) {
    keepKey(accepted);
    setCatalogue(known);
    setReason(null);
    setKey(accepted);
  }

  function signOut() {
    forgetKey();
    setKey(null);
  }

  if (key === null) return <SignIn key={reason} reason={reason} onSignedIn={signIn} />;
  if (!service) {
    return (
      <main class="opening" tabIndex={-1}>
        {failure ? <FailureNotice failure={failure} onRetry={askAgain} /> : <Waiting what="the charts" />}
        <button type="button" class="quiet" onClick={signOut}>
          Sign out
        </button>
      </main>
    );
  }
  return (
    <ServiceContext.Provider value={service}>
      <button type="button" class="skip" onClick={skipToContent}>
        Skip to content
      </button>
      <Navigation view={view} onSignOut={signOut} />
      <main id="content" tabIndex={-1}>
        <CurrentView view={view} catalogue={service.catalogue} />
      </main>
    </ServiceContext.Provider>
  );
}

/** Moves the focus to the content. A button calls this; a link would change the fragment, which holds the view. */
function skipToContent(): void {
  document.getElementById('content')?.focus();
}
