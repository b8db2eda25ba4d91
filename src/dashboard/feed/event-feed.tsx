// The event feed, newest first: each event with its payload and the state of its deliveries.
import { Heading } from '../parts/heading.tsx';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { Status } from '../parts/status.tsx';
import { VanishingButton } from '../parts/vanishing-button.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { show } from '../view/use-view.ts';
import { type FeedView, filtersOf } from '../view/view.ts';
import { EventEntry } from './event-entry.tsx';
import { FeedFilters } from './feed-filters.tsx';
import { useEvents } from './use-events.ts';

function NoEvents({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Notice title="No matching events.">
      <p class="muted">Identifiers must match exactly.</p>
    </Notice>
  ) : (
    <Notice title="No events yet.">
      <p class="muted">Grants and purchases create events once the app has an enabled webhook.</p>
    </Notice>
  );
}

export function EventFeed({ view }: { view: FeedView }) {
  const { answer, isOutdated, failedToLoadMore, failure, isAsking, askAgain, askMore, stop } = useEvents(view);
  const isFiltered = filtersOf(view).length > 0;
  const notice = failure && <FailureNotice failure={failure} onRetry={askAgain} />;
  return (
    <>
      <header class="view-header">
        <Heading title="Events" />
        <p class="muted">Webhook events, newest first. Times are in this computer’s time zone.</p>
      </header>
      <FeedFilters view={view} onChange={show} onRefresh={askAgain} />
      <Status
        what="events"
        isAsking={isAsking}
        words={failure || !answer ? '' : `Events shown: ${answer.events.length}`}
      />
      <section class="card feed" tabIndex={-1} aria-label="Events" aria-busy={isAsking}>
        {isAsking && <Waiting key={filtersOf(view).join()} what="events" onStop={stop} />}
        {!failedToLoadMore && notice}
        {answer?.events.length === 0 && <NoEvents isFiltered={isFiltered} />}
        <ul class={isOutdated ? 'outdated' : undefined}>
          {answer?.events.map((event) => (
            <EventEntry key={event.event_id} event={event} />
          ))}
        </ul>
        {failedToLoadMore && notice}
        {answer?.hasMore && !failedToLoadMore && (
          <VanishingButton class="more" isBusy={isAsking} onClick={askMore}>
            Older events
          </VanishingButton>
        )}
      </section>
    </>
  );
}
