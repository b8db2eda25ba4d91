// Counts distinct payers from columns instead of fact by fact. Distinct counts cannot be added up, so profiles with any
// change since the columns were written are counted separately, fact by fact.
import { type Kysely, sql } from 'kysely';
import { jsonList } from '../../db/lists.ts';
import { overlapping } from '../../db/overlap.ts';
import type { DB } from '../../db/types.ts';
import { CODE_OFFSET, PAGE_SIZE } from '../../facts/column-chunk.ts';
import { readKind, TAKEN_OFF } from '../../facts/kind.ts';
import { appToday } from '../app-days.ts';
import { countBuckets } from '../calendar.ts';
import { correctionRows } from '../corrections.ts';
import { PURCHASES } from '../entries.ts';
import type { Segments } from '../segments.ts';
import type { Source } from '../sources.ts';
import { listMonths } from './groups.ts';
import { PayerCounts } from './payer-counts.ts';
import { TooMuchToHold } from './sums.ts';

/** With more profiles to count separately, a query would be too much to hold. */
const MAX_CHANGED = 200_000;

/** Parallel lists: if there are many corrections, a row for each would hold up other requests. */
interface Corrections {
  buckets: number[];
  keys: (number | null)[];
  purchases: number[];
  profiles: number[];
}

async function readCorrections(db: Kysely<DB>, source: Source): Promise<Corrections> {
  const baseline = { horizon: appToday(source.query), months: listMonths(source, PURCHASES), byProfile: true };
  const parts = correctionRows(source, { ...PURCHASES, amount: 'one' }, baseline);
  if (parts.length === 0) return { buckets: [], keys: [], purchases: [], profiles: [] };
  const { rows } = await sql<Corrections>`
    select ${jsonList('bucket', 'buckets')}, ${jsonList('key', 'keys')}, ${jsonList('n', 'purchases')}, ${jsonList('profile_no', 'profiles')}
    from (
      select c.bucket, c.key, c.n, i.profile_no from (${sql.join(parts, sql` union all `)}) c
      join fact_install i on i.app_key = ${source.app.app_key} and i.profile_id = c.profile_id
      limit ${MAX_CHANGED}
    ) c`.execute(db);
  const corrections = rows[0]!;
  if (corrections.profiles.length === MAX_CHANGED) throw new TooMuchToHold();
  return corrections;
}

function codeAt(codes: string, row: number): number {
  return codes.charCodeAt(row) - CODE_OFFSET;
}

/** Lists the profiles from which the columns of these months take facts off. */
async function listTakenOff(db: Kysely<DB>, { app }: Source, months: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ kinds: string; kind: string; pages: string; page: string; place: string }>`
    select k.dictionary as kinds, k.codes as kind, p.dictionary as pages, p.codes as page, q.codes as place
    from fact_column_chunk k
    join fact_column_chunk p using (app_key, month, row_group)
    join fact_column_chunk q using (app_key, month, row_group)
    where k.app_key = ${app.app_key} and k.month = any(${[...months]}::integer[])
      and k.name = 'kind' and p.name = 'profile_page' and q.name = 'profile_place'
      and exists (
        select from unnest(string_to_array(k.dictionary, ',')) kind where kind::integer >= ${sql.lit(TAKEN_OFF)})`.execute(
    db,
  );
  return rows.flatMap((row) => {
    const signs = row.kinds.split(',').map((kind) => readKind(Number(kind)).sign);
    const pages = row.pages.split(',').map(Number);
    const profiles: number[] = [];
    for (let i = 0; i < row.kind.length; i++) {
      if (signs[codeAt(row.kind, i)] === -1)
        profiles.push(pages[codeAt(row.page, i)]! * PAGE_SIZE + codeAt(row.place, i));
    }
    return profiles;
  });
}

/**
 * Starts counting the payers of a span whose purchases are in columns, before these are scanned. Profiles with any
 * change since the columns were written are set apart, and corrected by what the columns lack or have in excess. Throws
 * TooMuchToHold.
 */
export async function startPayers(
  db: Kysely<DB>,
  source: Source,
  { values, segmentOf }: Segments,
): Promise<PayerCounts> {
  const payers = new PayerCounts(countBuckets(source.span), values.length);
  const [{ buckets, keys, purchases, profiles }, taken] = await overlapping(db, (each) => [
    readCorrections(each, source),
    listTakenOff(each, source, listMonths(source, PURCHASES)),
  ]);
  const changed = new Set([...taken, ...profiles]);
  if (changed.size > MAX_CHANGED) throw new TooMuchToHold();
  for (const profile of changed) payers.setApart(profile);
  for (const [i, profile] of profiles.entries()) {
    payers.add(payers.placeOf(profile), buckets[i]! - 1, segmentOf(keys[i] ?? null), purchases[i]!);
  }
  return payers;
}
