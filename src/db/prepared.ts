// Prepared statements: parsed and planned once per connection instead of at every execution, for what requests run
// thousands of times a second (of a grouped attribution write that was more than half the time). Their plans ignore the
// parameters, so they are not for charts or large batches. Their results must name every column: `*` of a table would
// break when a newer version adds one.
import { CompiledQuery, type Kysely, type OperationNode, type RawBuilder, RawNode, ValueNode } from 'kysely';
import type pg from 'pg';
import { boundStatements, streamOf } from './deadline.ts';
import { rethrowConnectFailure } from './failures.ts';
import { corkPerTurn } from './one-write.ts';
import type { DB } from './types.ts';

/** Maps the text of a statement to its name. */
const names = new Map<string, string>();
/** Upper bound. It catches texts that are built from values, which would get a new name each time. */
const MAX_NAMES = 100;

const KEEP_PLANS = CompiledQuery.raw('set local plan_cache_mode = force_generic_plan');

interface Compilable<T> {
  compile: (db: Kysely<DB>) => CompiledQuery<T>;
}

/** A text that has a name, with the first query that was compiled to it, including its values. */
interface NamedText {
  text: string;
  node: OperationNode;
}

/** Keyed by the name without its number. */
const namedTexts = new Map<string, NamedText[]>();

/** Whether two queries surely have the same text: made of the same template literals, they differ only in values. */
function areAlike(one: OperationNode, other: OperationNode): boolean {
  if (one === other) return true;
  if (ValueNode.is(one) && ValueNode.is(other)) return !one.immediate && !other.immediate;
  if (!RawNode.is(one) || !RawNode.is(other) || one.sqlFragments !== other.sqlFragments) return false;
  const { parameters } = other;
  return one.parameters.every((parameter, i) => areAlike(parameter, parameters[i] as OperationNode));
}

/**
 * Returns the equal text that has a name. Looking up a text that was just concatenated in `names` would flatten and
 * hash it, which takes longer than building it.
 */
function findText(name: string, { sql: text, query: node }: CompiledQuery): string {
  let texts = namedTexts.get(name);
  if (!texts) {
    texts = [];
    namedTexts.set(name, texts);
  }
  const found = texts.find((one) => areAlike(one.node, node)) ?? texts.find((one) => one.text === text);
  if (found) return found.text;
  if (!names.has(text)) {
    if (names.size === MAX_NAMES) throw new Error(`${name}: too many prepared statements`);
    names.set(text, `${name}_${names.size}`);
  }
  texts.push({ text, node });
  return text;
}

/** Runs a statement that is prepared under this name; statements of one name may differ in their text. */
export async function executePrepared<T>(db: Kysely<DB>, name: string, statement: Compilable<T>): Promise<T[]> {
  const query = statement.compile(db);
  return (await db.executeQuery<T>({ ...query, sql: findText(name, query) })).rows;
}

/**
 * Makes the server keep plans from the first execution on, until the end of the transaction. By default, the planner
 * compares the estimated cost of a plan for any parameters (ten rows for every array) with that of a plan for these
 * (one), and plans the larger statements each time, which took more than twice as long as running them.
 */
export async function forceGenericPlans(trx: Kysely<DB>): Promise<void> {
  await trx.executeQuery(KEEP_PLANS);
}

/** Runs a statement and returns its rows. */
export type Execute = <T>(statement: RawBuilder<T>) => Promise<T[]>;

/** Keeps plans, as `executePrepared` does: for a few rows at a time. */
export function keepingPlans(db: Kysely<DB>, name: string): Execute {
  return (statement) => executePrepared(db, name, statement);
}

/** Plans each statement every time: for many rows, which the plan can then take into account. */
export function planningEachTime(db: Kysely<DB>): Execute {
  return async (statement) => (await statement.execute(db)).rows;
}

interface WrappedClient {
  query: (text: string, values: unknown[]) => Promise<pg.QueryResult>;
  release: () => void;
}

const NONE_FREE = 'timeout exceeded when trying to connect';

/** Distinguishes an exhausted pool from a server that is out of reach: the driver has the same message for both. */
function explainConnectFailure(pool: pg.Pool, error: Error, inUse: number): Error {
  const { max, application_name } = pool.options;
  if (error.message !== NONE_FREE || inUse < (max ?? 0)) return error;
  return new Error(`all ${max} connections of ${application_name} are in use and none became free in time`);
}

/** Wraps a pool for Kysely: its connections name prepared statements, and none waits for ever for an answer. */
export function wrapPool(pool: pg.Pool, timeoutMs: number) {
  const wrappedClients = new WeakMap<pg.PoolClient, WrappedClient>();
  let inUse = 0;

  function wrap(client: pg.PoolClient): WrappedClient {
    const known = wrappedClients.get(client);
    if (known) return known;
    const { query, release } = boundStatements(client, timeoutMs);
    const holdBack = corkPerTurn(streamOf(client));
    const wrapped: WrappedClient = {
      query: (text, values) => {
        holdBack();
        const name = names.get(text);
        return query(name === undefined ? { text, values } : { name, text, values });
      },
      release: () => {
        inUse--;
        release();
      },
    };
    wrappedClients.set(client, wrapped);
    return wrapped;
  }

  async function connect(): Promise<WrappedClient> {
    const client = await pool
      .connect()
      .catch((error: Error) => rethrowConnectFailure(explainConnectFailure(pool, error, inUse)));
    inUse++;
    return wrap(client);
  }
  return { connect: connect as never, end: () => pool.end() };
}
