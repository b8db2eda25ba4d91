// One event: a line that expands to its payload and deliveries.
import type { FeedDelivery, FeedEvent } from '../service/answers.ts';
import { formatMoment } from '../words/moment.ts';

const STATES: Record<FeedDelivery['state'], string> = { pending: 'Pending', delivered: 'Delivered', dead: 'Dead' };
const WORST_FIRST = ['dead', 'pending', 'delivered'] as const;

/** Returns the worst state of the deliveries, and in words how many of them have it. */
function summarise(deliveries: readonly FeedDelivery[]): { state: FeedDelivery['state'] | 'none'; text: string } {
  const state = WORST_FIRST.find((one) => deliveries.some((delivery) => delivery.state === one));
  if (!state) return { state: 'none', text: 'No deliveries' };
  const count = deliveries.filter((delivery) => delivery.state === state).length;
  return { state, text: deliveries.length === 1 ? STATES[state] : `${count} of ${deliveries.length} ${state}` };
}

function Deliveries({ deliveries }: { deliveries: readonly FeedDelivery[] }) {
  return (
    <table class="deliveries">
      <caption>Deliveries</caption>
      <thead>
        <tr>
          <th scope="col">Webhook</th>
          <th scope="col">State</th>
          <th scope="col">Attempts</th>
          <th scope="col">Last status</th>
          <th scope="col">Next attempt</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map(({ webhook_id, state, attempts, last_status, next_attempt_at }) => (
          <tr key={webhook_id}>
            <td>
              <code>{webhook_id}</code>
            </td>
            <td>
              <span class={`state ${state}`}>{STATES[state]}</span>
            </td>
            <td>{attempts}</td>
            <td>{last_status ?? '–'}</td>
            <td>{next_attempt_at ? formatMoment(next_attempt_at) : '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function EventEntry({ event }: { event: FeedEvent }) {
  const { event_type, created_at, payload, deliveries } = event;
  const { state, text } = summarise(deliveries);
  const owner = payload.customer_user_id ?? payload.profile_id;
  return (
    <li>
      <details>
        <summary>
          <time dateTime={created_at}>{formatMoment(created_at)}</time>
          <span class="event-type">{event_type}</span>
          <span class="event-owner">{String(owner ?? '')}</span>
          <span class={`state ${state}`}>{text}</span>
        </summary>
        <div class="event-body">
          {deliveries.length > 0 && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
            <section class="scroll" tabIndex={0} aria-label="Deliveries">
              <Deliveries deliveries={deliveries} />
            </section>
          )}
          <h3>Payload</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>{JSON.stringify(payload, null, 2)}</pre>
        </div>
      </details>
    </li>
  );
}
