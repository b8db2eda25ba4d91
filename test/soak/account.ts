// The account of a soak: confirmed writes are found, events were delivered, processes did not grow.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { DB } from '../../src/db/types.ts';
import type { Load } from './load.ts';
import type { Fleet } from './processes.ts';
import type { SoakReceiver } from './receiver.ts';
import { connect } from './world.ts';

/** Enough for two failures of the receiver, and for the claim of a killed process to expire. */
const DRAIN_MS = 240_000;
/** A life with fewer samples says nothing about memory. */
const MIN_SAMPLES = 12;
/** Of the last third over the middle third; one garbage collection more or less makes this much difference. */
const MAX_GROWTH = 1.15;
const MAX_GROWTH_MB = 25;

export interface Account {
  lines: Record<string, string | number>;
  losses: string[];
}

interface Parts {
  databaseUrl: string;
  load: Load;
  fleet: Fleet;
  receiver: SoakReceiver;
}

async function countPending(db: Kysely<DB>): Promise<number> {
  const rows = await db.selectFrom('webhook_delivery').select('sequence').where('state', '=', 'pending').execute();
  return rows.length;
}

async function drain(db: Kysely<DB>): Promise<{ pending: number; seconds: number }> {
  const begun = performance.now();
  let pending = await countPending(db);
  while (pending > 0 && performance.now() - begun < DRAIN_MS) {
    await sleep(500);
    pending = await countPending(db);
  }
  return { pending, seconds: Math.round((performance.now() - begun) / 1000) };
}

function missing(
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string | null, string | null>,
  what: string,
) {
  return [...expected]
    .filter(([customer, value]) => found.get(customer) !== value)
    .map(([customer, value]) => `${what} of ${customer}: ${value} was confirmed, ${found.get(customer)} is there`);
}

async function findLostWrites(db: Kysely<DB>, { attributions, grants }: Load): Promise<string[]> {
  const recorded = await db
    .selectFrom('profile_attribution')
    .innerJoin('profile', (join) =>
      join
        .onRef('profile.app_id', '=', 'profile_attribution.app_id')
        .onRef('profile.profile_id', '=', 'profile_attribution.profile_id'),
    )
    .select(['customer_user_id', 'attribution_user_id'])
    .execute();
  const granted = await db
    .selectFrom('access_grant')
    .innerJoin('profile', (join) =>
      join
        .onRef('profile.app_id', '=', 'access_grant.app_id')
        .onRef('profile.profile_id', '=', 'access_grant.profile_id'),
    )
    .select(['customer_user_id', 'expires_at'])
    .execute();
  const tokens = new Map(recorded.map((row) => [row.customer_user_id, row.attribution_user_id]));
  const instants = new Map(granted.map((row) => [row.customer_user_id, toInstant(row.expires_at ?? '')]));
  const wanted = new Map([...grants].map(([customer, end]) => [customer, toInstant(end)]));
  return [...missing(attributions, tokens, 'the attribution'), ...missing(wanted, instants, 'the grant')];
}

/** Converts a timestamp of the database, which has a space where ISO 8601 has a T, and only hours in its offset. */
function toInstant(text: string): string {
  return new Date(text.replace(' ', 'T').replace(/\+00(00)?$/, 'Z')).toISOString();
}

async function findLostEvents(db: Kysely<DB>, { ends }: Load, { taken }: SoakReceiver) {
  const events = await db.selectFrom('webhook_event').select(['event_id', 'payload']).execute();
  const endOf = (payload: unknown) =>
    (payload as { event_properties: { expires_at: string } }).event_properties.expires_at;
  const written = new Set(events.map(({ payload }) => endOf(payload)));
  const unwritten = [...ends].filter((end) => !written.has(end));
  const undelivered = events.filter(({ event_id }) => !taken.has(event_id));
  const losses = [
    ...unwritten.map((end) => `the event of the grant until ${end}`),
    ...undelivered.map(({ event_id }) => `the delivery of event ${event_id}`),
  ];
  return { events: events.length, losses };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Describes each life by the medians of its thirds. */
function judgeMemory({ lives }: Fleet): { words: string[]; losses: string[] } {
  const words: string[] = [];
  const losses: string[] = [];
  for (const [number, { samples }] of lives.entries()) {
    const third = Math.floor(samples.length / 3);
    const thirds = [samples.slice(0, third), samples.slice(third, 2 * third), samples.slice(2 * third)].map(median);
    const [first = 0, middle = 0, last = 0] = thirds;
    words.push(`${first.toFixed(0)} → ${middle.toFixed(0)} → ${last.toFixed(0)}`);
    const isFlat = last <= middle * MAX_GROWTH || last - middle <= MAX_GROWTH_MB;
    if (samples.length >= MIN_SAMPLES && !isFlat)
      losses.push(`memory of process ${number + 1} grew: ${words.at(-1)} MB`);
  }
  return { words, losses };
}

export async function takeAccount({ databaseUrl, load, fleet, receiver }: Parts): Promise<Account> {
  const memory = judgeMemory(fleet);
  const db = connect(databaseUrl);
  try {
    const { pending, seconds } = await drain(db);
    const lostWrites = await findLostWrites(db, load);
    const { events, losses: lostEvents } = await findLostEvents(db, load, receiver);
    const deliveries = [...receiver.taken.values()].reduce((sum, count) => sum + count, 0);
    const { attribution, grant, chart } = load.confirmed;
    return {
      lines: {
        'attributions confirmed': attribution,
        'grants confirmed': grant,
        'charts answered': chart,
        'requests repeated': load.repeats(),
        'last writes looked up': load.attributions.size + load.grants.size,
        'events written': events,
        'events taken by the receiver': receiver.taken.size,
        'of these, more than once': deliveries - receiver.taken.size,
        'failures of the receiver': receiver.failures(),
        'seconds until all was delivered': seconds,
        'memory, MB by thirds': memory.words.join(', '),
      },
      losses: [
        ...load.faults,
        ...lostWrites,
        ...lostEvents,
        ...(pending > 0 ? [`${pending} deliveries are still pending`] : []),
        ...(receiver.forged() > 0 ? [`${receiver.forged()} signatures were invalid`] : []),
        ...(fleet.deaths > 0 ? [`${fleet.deaths} processes ended by themselves`] : []),
        ...memory.losses,
      ],
    };
  } finally {
    await db.destroy();
  }
}
