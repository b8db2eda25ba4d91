// A simple and obvious model of the service in memory: what each operation must answer, and how it changes the world.
// It knows nothing of SQL, locks or transactions.
import type { Named, Operation, Outcome, View } from './operations.ts';

interface Grant {
  from: string | null;
  until: string | null;
}

interface Profile {
  customer: string | null;
  attributes: Record<string, string | number>;
  campaign: string | null;
  grants: Record<string, Grant>;
  isDeleted: boolean;
}

interface Transaction {
  purchasedAt: string;
  until: string;
  price: number;
  isRefunded: boolean;
}

export interface World {
  sharing: 'refuse' | 'transfer';
  /** By id, in the order in which they were created. */
  profiles: Record<string, Profile>;
  chains: Record<string, { owner: string; transactions: Record<string, Transaction> }>;
}

export const LEVELS = ['premium', 'gold'];
/** Stands for the moment of a revoke: later than every past date, earlier than every future one. */
export const NOW = '2050-01-01T00:00:00.000000+0000';
export const REFUNDED_AT = '2025-12-15T00:00:00.000000+0000';

export function emptyWorld(sharing: World['sharing']): World {
  return { sharing, profiles: {}, chains: {} };
}

function findId(world: World, { customer, profile }: Named): string | undefined {
  return Object.keys(world.profiles).find((id) => {
    const { isDeleted, customer: name } = world.profiles[id] as Profile;
    return !isDeleted && (customer === undefined || name === customer) && (profile === undefined || id === profile);
  });
}

interface Source extends Grant {
  by: string;
  purchasedAt: string | null;
}

function transactionsOf(world: World, id: string): [string, Transaction][] {
  return Object.values(world.chains)
    .filter(({ owner }) => owner === id)
    .flatMap(({ transactions }) => Object.entries(transactions))
    .sort(([a, one], [b, other]) => (one.purchasedAt + a < other.purchasedAt + b ? -1 : 1));
}

function sourcesOf(world: World, id: string, level: string): Source[] {
  const grant = world.profiles[id]?.grants[level];
  const bought = level === 'premium' ? transactionsOf(world, id).toReversed() : [];
  return [
    ...bought.map(([by, { purchasedAt, until, isRefunded }]) => ({
      by,
      from: null,
      until: isRefunded && REFUNDED_AT < until ? REFUNDED_AT : until,
      purchasedAt,
    })),
    ...(grant ? [{ ...grant, by: 'grant', purchasedAt: null }] : []),
  ];
}

function standing({ from, until }: Source): number {
  if (until !== null && until <= NOW) return 2;
  return from !== null && from > NOW ? 1 : 0;
}

function best(sources: Source[]): Source | undefined {
  return sources.toSorted(
    (a, b) =>
      standing(a) - standing(b) ||
      ((a.until ?? '9') < (b.until ?? '9') ? 1 : (a.until ?? '9') > (b.until ?? '9') ? -1 : 0),
  )[0];
}

function viewOf(world: World, id: string): View {
  const profile = world.profiles[id] as Profile;
  const transactions = transactionsOf(world, id);
  const access = LEVELS.flatMap((level) => {
    const source = best(sourcesOf(world, id, level));
    return source ? [[level, { by: source.by, from: source.from, until: source.until }] as const] : [];
  });
  return {
    profile_id: id,
    customer_user_id: profile.customer,
    custom_attributes: profile.attributes,
    total_revenue_usd: transactions.reduce((sum, [, { price, isRefunded }]) => sum + (isRefunded ? 0 : price), 0),
    subscription: transactions.at(-1)?.[0] ?? null,
    access: Object.fromEntries(access),
  };
}

const refused = (status: number, error_code: string): Outcome => ({ status, error_code });
const NOT_FOUND = refused(404, 'profile_does_not_exist');

function isNameless({ customer, profile }: Named): boolean {
  return customer === undefined && profile === undefined;
}

function mergeAttributes(profile: Profile, attributes: Record<string, string | number | null>): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null) delete profile.attributes[key];
    else profile.attributes[key] = value;
  }
}

function create(world: World, { named, attributes }: Extract<Operation, { op: 'create' }>, newId: string): Outcome {
  const { customer, profile } = named;
  const looked = profile === undefined ? named : { profile };
  let id = isNameless(named) ? undefined : findId(world, looked);
  if (profile !== undefined) {
    if (id === undefined) return NOT_FOUND;
    const owner = customer === undefined ? id : findId(world, { customer });
    if (owner !== undefined && owner !== id) return refused(400, 'value_error');
    if (customer !== undefined) (world.profiles[id] as Profile).customer = customer;
  }
  if (id === undefined) {
    id = newId;
    world.profiles[id] = { customer: customer ?? null, attributes: {}, campaign: null, grants: {}, isDeleted: false };
  }
  mergeAttributes(world.profiles[id] as Profile, attributes);
  return { status: 200, view: viewOf(world, id) };
}

function revoke(profile: Profile, { level, revokeAt }: Extract<Operation, { op: 'revoke' }>): Outcome | undefined {
  if (!LEVELS.includes(level)) return refused(400, 'paid_access_level_does_not_exist');
  const grant = profile.grants[level];
  if (!grant) return refused(400, 'profile_paid_access_level_does_not_exist');
  const end = revokeAt ?? NOW;
  if (end < NOW) return refused(400, 'value_error');
  // `NOW` as the end means that an earlier revoke ended the grant, which was before this one.
  if (grant.until !== null && (end > grant.until || grant.until === NOW)) {
    return refused(400, 'revocation_date_more_than_expiration_date');
  }
  grant.until = end;
  return undefined;
}

function set(world: World, id: string, { chain, number, until, price, isRefunded }: Extract<Operation, { op: 'set' }>) {
  const known = world.chains[chain];
  const isForeign = known !== undefined && known.owner !== id && !world.profiles[known.owner]?.isDeleted;
  if (isForeign && world.sharing === 'refuse') return refused(400, 'value_error');
  const purchasedAt = `2025-0${number}-01T00:00:00.000000+0000`;
  const transactions = { ...known?.transactions, [`${chain}-${number}`]: { purchasedAt, until, price, isRefunded } };
  world.chains[chain] = { owner: id, transactions };
  return undefined;
}

function markDeleted(profile: Profile): void {
  Object.assign(profile, { customer: null, attributes: {}, grants: {}, isDeleted: true });
}

/** Applies the operation to the profile that it names. Returns undefined if the answer is the profile. */
function change(world: World, id: string, operation: Operation): Outcome | undefined {
  const profile = world.profiles[id] as Profile;
  switch (operation.op) {
    case 'update':
      mergeAttributes(profile, operation.attributes);
      return undefined;
    case 'delete':
      markDeleted(profile);
      return { status: 204 };
    case 'attribute':
      profile.campaign = operation.campaign;
      return { status: 201 };
    case 'grant':
      if (!LEVELS.includes(operation.level)) return refused(400, 'paid_access_level_does_not_exist');
      profile.grants[operation.level] = { from: operation.from, until: operation.until };
      return undefined;
    case 'revoke':
      return revoke(profile, operation);
    case 'set':
      return set(world, id, operation);
    default:
      return undefined;
  }
}

/** Performs the operation on the world and returns the expected outcome. `newId` is used if it creates a profile. */
export function perform(world: World, operation: Operation, newId: string): Outcome {
  const { op, named } = operation;
  if (op === 'grant' && operation.from && operation.until && operation.until <= operation.from) {
    return refused(400, 'value_error');
  }
  if (op === 'create') return create(world, operation, newId);
  if (isNameless(named)) return refused(400, op === 'attribute' ? 'missing' : 'profile_does_not_exist');
  const id = findId(world, named);
  if (id === undefined) return NOT_FOUND;
  return change(world, id, operation) ?? { status: 200, view: viewOf(world, id) };
}

/** Returns revenue by campaign, less refunds, and the number of installs. Deleted profiles count, too. */
export function figuresOf(world: World) {
  const revenue: Record<string, number> = {};
  for (const { owner, transactions } of Object.values(world.chains)) {
    const campaign = world.profiles[owner]?.campaign ?? '';
    for (const { price, isRefunded } of Object.values(transactions)) {
      revenue[campaign] = (revenue[campaign] ?? 0) + (isRefunded ? 0 : price);
    }
  }
  return { revenue, installs: Object.keys(world.profiles).length };
}
