// Corrects what the columns of installs lack or have in excess, as src/analytics/corrections.ts does for facts.
import { sql } from 'kysely';
import { appDaysOf } from './app-days.ts';
import { type Baseline, isInRanges, rangesWithout } from './corrections.ts';
import { INSTALLS } from './entries.ts';
import { asLabelled, asWritten, countedInOneRead, type Facts, factRows } from './fact-rows.ts';
import { rangesOfMonths } from './month-ranges.ts';
import { relabelledBefore } from './relabelled/rows.ts';
import { dayOf, OWN_LABEL, type Source, type Sql } from './sources.ts';

/**
 * Selects `bucket, key, n` of changes after the columns were written, months without columns, later days, and installs
 * whose label is pending.
 */
export function installCorrectionRows(
  source: Source,
  { horizon, months }: Required<Pick<Baseline, 'horizon' | 'months'>>,
): Sql[] {
  const day = dayOf('installed');
  const past = sql`${day} < ${sql.lit(horizon)}`;
  const otherDays = rangesWithout(source, months, false);
  const parts = [
    ...(source.state.has.installChanges ? [changed([past, isInRanges(day, rangesOfMonths(months))])] : []),
    ...(otherDays.length > 0 ? [asWritten(INSTALLS.of, [past, isInRanges(day, otherDays)])] : []),
    ...(appDaysOf(source).end > horizon ? [asLabelled(source, INSTALLS, [sql`${day} >= ${sql.lit(horizon)}`])] : []),
  ];
  return [
    ...parts.map((facts) => factRows(source, INSTALLS, { counted: countedInOneRead(INSTALLS), facts })),
    ...relabelledBefore(source, INSTALLS, { horizon }),
  ];
}

function changed(where: Sql[]): Facts {
  return { relation: sql`install_column_change f`, where, weight: sql`f.sign`, label: OWN_LABEL };
}
