// Records an attribution. The request is answered once it is committed, together with others that arrived meanwhile.
import type { Kysely } from 'kysely';
import { groupCalls } from '../db/group.ts';
import { inTransactionWithLockTimeout } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { apiError } from '../errors.ts';
import { isUuid } from '../lib/uuid.ts';
import type { AppIdentity } from '../profile/identity.ts';
import { type Label, toLabel } from './label.ts';
import { createLabels } from './labels.ts';
import { groupSize } from './metrics.ts';
import { type AttributionRow, lookUpProfiles, NOT_RECORDED, writeAttributions } from './queries.ts';
import type { AttributionBody } from './schema.ts';

/** If a record cannot be locked within this time, its holder takes longer than a post does. */
const FREE_WITHIN_MS = 20;

/** What a request asks to record. The request itself is not kept while it waits. */
interface Post extends AppIdentity {
  label: Label;
  attribution_user_id: string | null;
}

/** How posts are recorded; `replaces` says whether they overwrite an existing record. */
interface Recording {
  replaces: boolean;
  record: RecordRows;
}

type RecordRows = (connection: Kysely<DB>, rows: readonly AttributionRow[]) => Promise<boolean[]>;

/** The name under which posts for one profile wait for its lock together; a profile named in two ways has two. */
function waitingName({ app_id, customer_user_id, profile_id }: AppIdentity): string {
  return `${app_id} ${customer_user_id ?? profile_id?.toLowerCase()}`;
}

/** Posts with the same key are known to find the same profile, or none. Posts that share a `waitingName` need not. */
function identityKey({ app_id, customer_user_id, profile_id }: AppIdentity): string {
  return JSON.stringify([app_id, customer_user_id, profile_id?.toLowerCase() ?? null]);
}

/** Returns the posts that follow another of the same identity: if the first record stays, theirs are never written. */
function followersIn(posts: readonly Post[]): ReadonlySet<Post> {
  const seen = new Set<string>();
  const followers = new Set<Post>();
  for (const post of posts) {
    const key = identityKey(post);
    if (seen.has(key)) followers.add(post);
    seen.add(key);
  }
  return followers;
}

function postOf(app: App, body: AttributionBody): Post {
  return {
    app_id: app.app_id,
    customer_user_id: body.customer_user_id || null,
    profile_id: body.profile_id || null,
    label: toLabel(body),
    attribution_user_id: body.attribution_user_id || null,
  };
}

/**
 * Makes `recordAttribution(app, body)`. It rejects with profile_not_found, or with unavailable when too much is
 * waiting, and does not keep the body beyond the call.
 */
export function createAttributionRecorder({
  db,
  groupDb,
  serverRun,
  config,
}: Pick<Deps, 'db' | 'groupDb' | 'serverRun' | 'config'>): (app: App, body: AttributionBody) => Promise<void> {
  const labels = createLabels(serverRun);
  let isFirst = true;

  /**
   * Returns the label key of each post. New labels are written only for living profiles that will get them: anyone with
   * a public key could fill the table otherwise.
   */
  async function keysOf(via: Kysely<DB>, posts: readonly Post[], replaces: boolean): Promise<(number | undefined)[]> {
    const keys = await labels.find(
      via,
      posts.map(({ label }) => label),
    );
    if (!keys.includes(undefined)) return keys;
    const unknown = posts.flatMap((post, index) => (keys[index] === undefined ? [{ post, index }] : []));
    const found = await lookUpProfiles(
      via,
      unknown.map(({ post }) => post),
    );
    const followers = replaces ? undefined : followersIn(posts);
    const wanted: typeof unknown = [];
    for (const [position, { is_found, has_record }] of found.entries()) {
      const one = unknown[position]!;
      const isDropped = followers && (has_record || followers.has(one.post));
      if (is_found && isDropped) keys[one.index] = NOT_RECORDED;
      else if (is_found) wanted.push(one);
    }
    const learned = await labels.keysOf(
      via,
      wanted.map(({ post }) => post.label),
    );
    for (const [position, { index }] of wanted.entries()) keys[index] = learned[position];
    return keys;
  }

  /** Returns whether each post found its profile. */
  async function write(via: Kysely<DB>, posts: readonly Post[], { replaces, record }: Recording): Promise<boolean[]> {
    groupSize.observe(posts.length);
    // Not awaited: without it, labels are looked up as they come.
    if (isFirst) labels.preload(via).catch(() => undefined);
    isFirst = false;
    const run = serverRun.number;
    const keys = await keysOf(via, posts, replaces);
    const rows = posts.map(({ app_id, customer_user_id, profile_id, attribution_user_id }, index) => {
      return { app_id, customer_user_id, profile_id, attribution_key: keys[index] ?? null, attribution_user_id };
    });
    return via.connection().execute((connection) => {
      // The pool may just have made this connection, to a server that lacks labels whose keys are cached
      // (db/server-run.ts).
      if (serverRun.number !== run) throw apiError('unavailable');
      return record(connection, rows);
    });
  }

  function createWriter(replaces: boolean) {
    const record: RecordRows = (connection, rows) => writeAttributions(connection, rows, replaces);
    const recordIfFree: RecordRows = (connection, rows) =>
      inTransactionWithLockTimeout(connection, FREE_WITHIN_MS, (trx) => record(trx, rows));
    const writing = (via: Kysely<DB>, how: RecordRows) => (posts: readonly Post[]) =>
      write(via, posts, { replaces, record: how });
    const whenLocked = {
      lockKeyOf: waitingName,
      writeIfFree: writing(groupDb, recordIfFree),
      write: writing(db, record),
      // Others need connections, too, and there are two such writers.
      maxConcurrent: Math.max(1, Math.floor(config.DATABASE_POOL_SIZE / 4)),
    };
    return groupCalls(writing(groupDb, record), { whenLocked });
  }

  const enqueue = { first: createWriter(false), last: createWriter(true) };

  return (app, body) => {
    if (body.profile_id && !isUuid(body.profile_id)) return Promise.reject(apiError('profile_not_found'));
    return enqueue[app.attribution_policy](app.app_id, postOf(app, body)).then((isFound) => {
      if (!isFound) throw apiError('profile_not_found');
    });
  };
}
