// The oracle, part two: counts all 19 charts entry by entry from the facts of oracle-facts.ts. Takes the days of
// instants from Intl directly; it knows no bucket edges.
import { deriveFacts, divide, type Fact, profileDimensions, type World } from './oracle-facts.ts';

export interface Question {
  chart_id: string;
  filters: { date: string[]; compare_date?: string[] } & Record<string, string[]>;
  period_unit: string;
  date_type: string;
  segmentation?: string;
}

export interface OracleSeries {
  type: string;
  value: number;
  y: number[];
  compare_value: number | null;
  compare_y: number[] | null;
}

interface Entry {
  at: number;
  until?: number;
  amounts: bigint[];
  installedAt: number;
  dimensions: Record<string, string>;
  payer?: string;
}

interface Definition {
  kind: 'flow' | 'stock' | 'ratio';
  entries: (world: World, facts: Fact[]) => Entry[];
  per?: 'installs' | 'payers';
}

const DAY_MS = 86_400_000;
const times = (amounts: bigint[], factor: bigint) => amounts.map((one) => one * factor);

function entry(fact: Fact, at: number | null, amounts: bigint[], until?: number): Entry[] {
  if (at === null) return [];
  const installedAt = Date.parse(fact.profile.installed_at);
  const about = { at, amounts, installedAt, dimensions: fact.dimensions };
  return [until === undefined ? about : { ...about, until }];
}

const each = (make: (fact: Fact) => Entry[]) => (_: World, facts: Fact[]) => facts.flatMap(make);
const count = (accepts: (fact: Fact) => boolean, at: (fact: Fact) => number | null) =>
  each((fact) => (accepts(fact) ? entry(fact, at(fact), [1n]) : []));

const isPaid = (fact: Fact) => fact.number > 0;
const isActivePaid = (fact: Fact) => isPaid(fact) && fact.refundedAt === null;
const isPriced = (fact: Fact) => fact.price[0]! > 0n;
const bought = (fact: Fact) =>
  entry(fact, fact.purchasedAt, fact.price).map((one) => ({ ...one, payer: fact.profile.customer_user_id }));
const revenue = each((fact) =>
  isPriced(fact) ? [...bought(fact), ...entry(fact, fact.refundedAt, times(fact.price, -1n))] : [],
);
const recurring = (factor: bigint) =>
  each((fact) =>
    isActivePaid(fact) && fact.monthly
      ? entry(fact, fact.purchasedAt, times(fact.monthly, factor), fact.activeUntil)
      : [],
  );
const installs = ({ profiles }: World): Entry[] =>
  profiles.map((profile) => {
    const at = Date.parse(profile.installed_at);
    return { at, amounts: [1n], installedAt: at, dimensions: profileDimensions(profile) };
  });

const DEFINITIONS: Record<string, Definition> = {
  revenue: { kind: 'flow', entries: revenue },
  mrr: { kind: 'stock', entries: recurring(1n) },
  arr: { kind: 'stock', entries: recurring(12n) },
  arpu: { kind: 'ratio', entries: revenue, per: 'installs' },
  arppu: { kind: 'ratio', entries: revenue, per: 'payers' },
  installs: { kind: 'flow', entries: installs },
  subscriptions_active: {
    kind: 'stock',
    entries: each((fact) => (isActivePaid(fact) ? entry(fact, fact.purchasedAt, [1n], fact.activeUntil) : [])),
  },
  subscriptions_new: {
    kind: 'flow',
    entries: count(
      (fact) => fact.number === 1,
      (fact) => fact.purchasedAt,
    ),
  },
  subscriptions_renewal_cancelled: { kind: 'flow', entries: count(isPaid, (fact) => fact.cancelledAt) },
  subscriptions_expired: { kind: 'flow', entries: count(isPaid, (fact) => fact.lapseAt) },
  trials_active: {
    kind: 'stock',
    entries: each((fact) => (fact.isTrial ? entry(fact, fact.purchasedAt, [1n], fact.activeUntil) : [])),
  },
  trials_new: {
    kind: 'flow',
    entries: count(
      (fact) => fact.isTrial,
      (fact) => fact.purchasedAt,
    ),
  },
  trials_renewal_cancelled: {
    kind: 'flow',
    entries: count(
      (fact) => fact.isTrial,
      (fact) => fact.cancelledAt,
    ),
  },
  trials_expired: {
    kind: 'flow',
    entries: count(
      (fact) => fact.isTrial,
      (fact) => fact.lapseAt,
    ),
  },
  grace_period: {
    kind: 'flow',
    entries: count(
      (fact) => !fact.isOneTime,
      (fact) => fact.graceAt,
    ),
  },
  billing_issue: {
    kind: 'flow',
    entries: count(
      (fact) => !fact.isOneTime,
      (fact) => fact.billingIssueAt,
    ),
  },
  refund_events: { kind: 'flow', entries: count(isPriced, (fact) => fact.refundedAt) },
  refund_money: {
    kind: 'flow',
    entries: each((fact) => (isPriced(fact) ? entry(fact, fact.refundedAt, fact.price) : [])),
  },
  non_subscriptions: {
    kind: 'flow',
    entries: count(
      (fact) => fact.isOneTime,
      (fact) => fact.purchasedAt,
    ),
  },
};

const MONEY = ['revenue', 'mrr', 'arr', 'arpu', 'arppu', 'refund_money'];
const OF_PROFILES = ['country', 'store'];

const formats = new Map<string, Intl.DateTimeFormat>();

function localDate(at: number, zone: string): string {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
  formats.set(zone, format);
  return format.format(at);
}

function unitOf(date: string, unit: string): string {
  const [year, month] = [date.slice(0, 4), Number(date.slice(5, 7))];
  if (unit === 'year') return year;
  if (unit === 'quarter') return `${year}-${Math.ceil(month / 3)}`;
  if (unit === 'month') return date.slice(0, 7);
  if (unit === 'day') return date;
  const day = Date.parse(date);
  const weekday = (new Date(day).getUTCDay() + 6) % 7;
  return `week of ${new Date(day - weekday * DAY_MS).toISOString().slice(0, 10)}`;
}

/** Returns the dates of each bucket that has begun. */
function listBuckets([first, last = first]: string[], unit: string, today: string): string[][] {
  const buckets = new Map<string, string[]>();
  for (let day = Date.parse(first!); day <= Date.parse(last!); day += DAY_MS) {
    const date = new Date(day).toISOString().slice(0, 10);
    buckets.set(unitOf(date, unit), [...(buckets.get(unitOf(date, unit)) ?? []), date]);
  }
  return [...buckets.values()].filter(([start]) => start! <= today);
}

interface Figures {
  numerators: bigint[][];
  denominators: bigint[];
  whole: bigint[];
  wholePer: bigint;
}

/** Asks the oracle. Returns the series of each key of the answer, in order. */
export function consultOracle(world: World, question: Question, zone: string): Record<string, OracleSeries[]> {
  const { kind, entries: makeEntries, per } = DEFINITIONS[question.chart_id]!;
  const { segmentation, filters } = question;
  const facts = deriveFacts(world);
  const passes = ({ dimensions }: Entry) =>
    Object.entries(filters).every(
      ([name, values]) => name.endsWith('date') || values.length === 0 || values.includes(dimensions[name]!),
    );
  const entries = makeEntries(world, facts).filter(passes);
  const divisors = per === 'installs' ? installs(world).filter(passes) : [];
  const keys = MONEY.includes(question.chart_id) ? ['revenue', 'proceeds', 'net_revenue'] : ['common'];
  const byInstall = question.date_type === 'profile_install_date';
  /** Now, for a request, is the last microsecond of its millisecond. */
  const now = world.now + 0.999;
  const today = localDate(world.now, zone);
  const installsSplit =
    segmentation !== undefined && (segmentation.startsWith('attribution_') || OF_PROFILES.includes(segmentation));

  /** Returns the indexes of the buckets in which an entry counts. */
  function placesOf(one: Entry, buckets: string[][], isStock: boolean): number[] {
    const date = localDate(byInstall ? one.installedAt : one.at, zone);
    if (one.at > now || (byInstall && one.installedAt > now)) return [];
    if (byInstall) {
      if (isStock && !(one.at < now && one.until! >= now)) return [];
      return buckets.flatMap((dates, i) => (dates.includes(date) ? [i] : []));
    }
    if (!isStock) return buckets.flatMap((dates, i) => (dates.includes(date) ? [i] : []));
    return buckets.flatMap((dates, i) => {
      const last = dates.at(-1)!;
      const isCurrent = last >= today;
      const isClosed = isCurrent ? one.until! < now : localDate(one.until!, zone) <= last;
      return date <= last && !isClosed ? [i] : [];
    });
  }

  function figuresOf(buckets: string[][], some: Entry[], someDivisors: Entry[]): Figures & { isEmpty: boolean } {
    const numerators = keys.map(() => buckets.map(() => 0n));
    const payers = buckets.map(() => new Set<string>());
    const denominators = buckets.map(() => 0n);
    let isEmpty = true;
    for (const one of some) {
      for (const place of placesOf(one, buckets, kind === 'stock')) {
        isEmpty = false;
        one.amounts.forEach((amount, key) => {
          numerators[key]![place]! += amount;
        });
        if (one.payer) payers[place]!.add(one.payer);
      }
    }
    for (const one of someDivisors) {
      for (const place of placesOf(one, buckets, false)) {
        isEmpty = false;
        denominators[place]! += 1n;
      }
    }
    const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n);
    const isLast = kind === 'stock' && !byInstall;
    return {
      isEmpty,
      numerators,
      denominators: per === 'payers' ? payers.map(({ size }) => BigInt(size)) : denominators,
      whole: numerators.map((values) => (isLast ? (values.at(-1) ?? 0n) : sum(values))),
      wholePer: per === 'payers' ? BigInt(new Set(payers.flatMap((set) => [...set])).size) : sum(denominators),
    };
  }

  function shown(amount: bigint, divisor: bigint): number {
    if (keys.length === 1) return Number(amount);
    if (kind === 'ratio' && divisor === 0n) return 0;
    const micros = divide(amount, 1000n * (kind === 'ratio' ? divisor : 1n));
    const digits = String(micros < 0n ? -micros : micros).padStart(7, '0');
    return Number(`${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`);
  }

  const spans = [filters.date, filters.compare_date].map(
    (range) => range && listBuckets(range, question.period_unit, today),
  );
  const values = segmentation
    ? [...new Set([...entries, ...divisors].map(({ dimensions }) => dimensions[segmentation]!))]
    : [];
  const names = [null, ...values.filter((value) => value !== undefined)];
  const all = names.map((name) => {
    const isMine = ({ dimensions }: Entry) => name === null || dimensions[segmentation!] === name;
    const mine = entries.filter(isMine);
    const own = name === null || installsSplit ? divisors.filter(isMine) : divisors;
    const figures = spans.map((buckets) => buckets && figuresOf(buckets, mine, own));
    const seen = spans.map((buckets) => buckets && figuresOf(buckets, mine, installsSplit ? own : []));
    return { name, figures, isSeen: name === null || seen.some((one) => one && !one.isEmpty) };
  });

  const drawn = (key: number) =>
    all
      .filter(({ isSeen }) => isSeen)
      .map(({ name, figures: [main, compared] }): OracleSeries & { name: string | null } => {
        const y = ({ numerators, denominators }: Figures) => numerators[key]!.map((n, i) => shown(n, denominators[i]!));
        return {
          name,
          type: name ?? 'total',
          value: shown(main!.whole[key]!, main!.wholePer),
          y: y(main!),
          compare_value: compared ? shown(compared.whole[key]!, compared.wholePer) : null,
          compare_y: compared ? y(compared) : null,
        };
      });
  const order = drawn(0)
    .sort((a, b) => {
      if (a.name === null || b.name === null) return a.name === null ? -1 : 1;
      return b.value - a.value || (a.name < b.name ? -1 : 1);
    })
    .map(({ name }) => name);
  return Object.fromEntries(
    keys.map((name, key) => {
      const series = drawn(key);
      return [
        name,
        order.map((one) => series.find((other) => other.name === one)!).map(({ name: _, ...rest }) => rest),
      ];
    }),
  );
}
