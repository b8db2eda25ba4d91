// Measures work and reference in turns, so that both share the hours in which the machine is faster or slower.
import type { Context } from './context.ts';
import type { Dataset } from './data/datasets.ts';
import { vacuumChanged } from './data/vacuum.ts';
import type { LoadJob, LoadResult } from './load/drive.ts';
import type { Requests } from './load/requests.ts';
import { median } from './measure.ts';
import { type Running, runJob } from './processes.ts';
import { perSecond } from './report.ts';

export interface Load {
  size: Context['size'];
  url: string;
  connections: number;
  requests: Requests;
}

export async function driveLoad({ size, ...load }: Load): Promise<LoadResult> {
  const { seconds, warmUpSeconds } = size;
  const result = await runJob<LoadJob, LoadResult>('drive.ts', { ...load, seconds, warmUpSeconds });
  if (result.failed > 0) throw new Error(`${result.failed} of ${result.requests} requests failed`);
  return result;
}

/** Drives load against a program that was started for this alone, then stops the program. */
export async function driveAndStop({ url, stop }: Running, load: Omit<Load, 'url'>): Promise<LoadResult> {
  const result = await driveLoad({ ...load, url });
  await stop();
  return result;
}

export type Measured = Pick<LoadResult, 'perSecond'>;

/**
 * Runs each measure once per round, starting with round 1; every other round runs backwards. The n-th results are those
 * of the n-th round. The work that a turn leaves to autovacuum, which comes round once a minute, is done before the
 * next turn, so that no measure pays for another.
 */
export async function measureInTurns<Name extends string, M extends Measured>(
  { size, log }: Context,
  dataset: Dataset,
  measures: Record<Name, (round: number) => Promise<M>>,
): Promise<Record<Name, M[]>> {
  const names = Object.keys(measures) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as M[]])) as Record<Name, M[]>;
  for (let round = 1; round <= size.rounds; round++) {
    for (const name of round % 2 === 1 ? names : names.toReversed()) {
      measured[name].push(await measures[name](round));
      await vacuumChanged(dataset);
    }
    log(`round ${round}: ${names.map((name) => `${name} ${perSecond(measured[name].at(-1)!.perSecond)}`).join(', ')}`);
  }
  return measured;
}

/**
 * Returns the median of the rounds' ratios. A ratio of means would be that of the fastest round, as the machine's pace
 * may double from one round to the next.
 */
export function ratioOf(works: readonly Measured[], references: readonly Measured[]): number {
  return median(works.map(({ perSecond }, round) => perSecond / references[round]!.perSecond));
}

/** Returns the median rate of the rounds, in words. */
export function rateOf(rounds: readonly Measured[]): string {
  return perSecond(median(rounds.map((round) => round.perSecond)));
}

/** Returns the median p99 latency of the rounds, in milliseconds. */
export function p99Of(rounds: readonly LoadResult[]): number {
  return median(rounds.map(({ p99Ms }) => p99Ms));
}
