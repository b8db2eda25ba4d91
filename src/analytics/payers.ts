// Distinct payers from the columns instead of fact by fact. Distinct ones do not add up: profiles of which anything changed since the columns
// were made are counted by themselves, fact by fact.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { PAGE, readKind } from '../facts/columns.ts';
import { countBuckets } from './calendar.ts';
import { horizonOf, isInColumns, listMonths, planScan, readGroups } from './column-groups.ts';
import { type Group, type Scan, scanFacts } from './column-scan.ts';
import { correctionRows } from './corrections.ts';
import { PURCHASES } from './entries.ts';
import { PayerCounts, TooManyPayers } from './payer-counts.ts';
import { type Source, segmentValues } from './sources.ts';

/** Distinct payers of a span, and the values of the segments by their numbers. */
export interface Payers {
  counts: PayerCounts;
  segments: readonly string[];
}

/** With more profiles to count by themselves, it would be too much to hold. */
const MOST_CHANGED = 200_000;

/** Segments are values: several keys may have the same. */
async function numberSegments(
  db: Kysely<DB>,
  { query }: Source,
): Promise<{ segments: string[]; numberOf: (key: string) => number }> {
  if (!query.segmentation) return { segments: [], numberOf: () => 0 };
  const { rows } = await sql<{ key: number; value: string }>`
    select key, value from ${segmentValues(query.segmentation)}`.execute(db);
  const segments = [...new Set(rows.map(({ value }) => value))];
  const numbers = new Map(segments.map((value, number) => [value, number]));
  const byKey = new Map(rows.map(({ key, value }) => [String(key), numbers.get(value)!]));
  return { segments, numberOf: (key) => byKey.get(key)! };
}

interface Correction {
  bucket: number;
  key: number | null;
  n: string | bigint;
  profile_no: bigint;
}

async function readCorrections(db: Kysely<DB>, source: Source): Promise<Correction[]> {
  const kept = { horizon: horizonOf(source.query), months: listMonths(source, PURCHASES), byProfile: true };
  const parts = correctionRows(source, { ...PURCHASES, amount: 'one' }, { at: PURCHASES.at, sign: 1 }, kept);
  if (parts.length === 0) return [];
  const { rows } = await sql<Correction>`
    select c.bucket, c.key, c.n, i.profile_no from (${sql.join(parts, sql` union all `)}) c
    join fact_install i on i.app_key = ${source.owner.app_key} and i.profile_id = c.profile_id
    limit ${MOST_CHANGED}`.execute(db);
  if (rows.length === MOST_CHANGED) throw new TooManyPayers();
  return rows;
}

/** Profiles of which the columns of these months take facts off. */
async function listTakenOff(db: Kysely<DB>, { owner }: Source, months: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ kinds: string; kind: string; pages: string; page: string; place: string }>`
    select k.dictionary as kinds, k.codes as kind, p.dictionary as pages, p.codes as page, q.codes as place
    from fact_column_chunk k
    join fact_column_chunk p using (app_key, month, row_group)
    join fact_column_chunk q using (app_key, month, row_group)
    where k.app_key = ${owner.app_key} and k.month = any(${[...months]}::integer[])
      and k.name = 'kind' and p.name = 'profile_page' and q.name = 'profile_place'
      and exists (select from unnest(string_to_array(k.dictionary, ',')) kind where kind::integer >= 128)`.execute(db);
  return rows.flatMap((row) => {
    const signs = row.kinds.split(',').map((kind) => readKind(Number(kind)).sign);
    const pages = row.pages.split(',').map(Number);
    const profiles: number[] = [];
    for (let i = 0; i < row.kind.length; i++) {
      if (signs[row.kind.charCodeAt(i) - 1] === -1)
        profiles.push(pages[row.page.charCodeAt(i) - 1]! * PAGE + row.place.charCodeAt(i) - 1);
    }
    return profiles;
  });
}

/** The distinct payers of a span; undefined where the columns cannot tell, or it would be too much to hold. */
export async function readPayers(db: Kysely<DB>, source: Source, signal: AbortSignal): Promise<Payers | undefined> {
  if (!isInColumns(source, PURCHASES)) return undefined;
  try {
    return await countPayers(db, source, signal);
  } catch (error) {
    if (error instanceof TooManyPayers) return undefined;
    throw error;
  }
}

async function countPayers(db: Kysely<DB>, source: Source, signal: AbortSignal): Promise<Payers> {
  const months = listMonths(source, PURCHASES);
  const scan: Scan = { ...(await planScan(db, source, { ...PURCHASES, amount: 'one' })), profiles: true };
  const { segments, numberOf } = await numberSegments(db, source);
  const corrections = await readCorrections(db, source);
  const taken = await listTakenOff(db, source, months);
  const changed = new Set([...taken, ...corrections.map(({ profile_no }) => Number(profile_no))]);
  if (changed.size > MOST_CHANGED) throw new TooManyPayers();
  const counts = new PayerCounts(countBuckets(source.span), segments.length);
  /** How many purchases of the changed profiles there are, by profile, bucket and segment. */
  const ofChanged = new Map<string, number>();
  const addChanged = (profile: number, bucket: number, segment: number, n: number) => {
    const name = `${profile} ${bucket} ${segment}`;
    ofChanged.set(name, (ofChanged.get(name) ?? 0) + n);
  };
  const scanOne = (group: Group) =>
    scanFacts(scan, group, numberOf, (profile, bucket, segment, sign) => {
      if (changed.has(profile)) addChanged(profile, bucket, segment, sign);
      else counts.add(profile, bucket, segment);
    });
  for (const month of months) {
    signal.throwIfAborted();
    for (const group of await readGroups(db, source, scan, month)) scanOne(group);
  }
  for (const { bucket, key, n, profile_no } of corrections) {
    addChanged(Number(profile_no), bucket - 1, key === null ? 0 : numberOf(String(key)), Number(n));
  }
  for (const [name, n] of ofChanged) {
    const [profile, bucket, segment] = name.split(' ').map(Number);
    if (n > 0) counts.add(profile!, bucket!, segment!);
  }
  return { counts, segments };
}
