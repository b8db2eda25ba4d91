// Asks the service and DuckDB the same questions, one after the other, and compares their figures: a fast answer that
// is wrong does not count.
import type { Duck } from '../reference/duckdb.ts';
import type { ChartClient, Values } from './ask.ts';
import { askedEarlier, describe, type Question } from './questions.ts';

export interface Compared {
  question: Question;
  serviceMs: number;
  /** For the same question again, with nothing changed. */
  againMs: number;
  duckMs: number;
}

/**
 * Whether two figures differ by rounding alone: the service rounds to 6 decimals, and binary floating point rounds too.
 */
function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= 2e-6 + 1e-9 * Math.max(Math.abs(one), Math.abs(other));
}

function findDifference({ segmentation }: Question, service: Values, duck: Values): string | undefined {
  if (!isClose(service.total, duck.total)) return `total ${service.total} and ${duck.total}`;
  if (!segmentation || service.isCut) return undefined;
  for (const name of new Set([...service.segments.keys(), ...duck.segments.keys()])) {
    const [one, other] = [service.segments.get(name) ?? 0, duck.segments.get(name) ?? 0];
    if (name !== 'other' && !isClose(one, other)) return `${name}: ${one} and ${other}`;
  }
  return undefined;
}

export async function compareAnswers(
  questions: readonly Question[],
  { client, duck, end }: { client: ChartClient; duck: Duck; end: number },
): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (const question of questions) {
    await duck.ask(question);
    const inDuck = await duck.ask(question);
    await client.ask(askedEarlier(question, end));
    const inService = await client.ask(question);
    const again = await client.ask(question);
    const difference = inService.values && findDifference(question, inService.values, inDuck.values);
    if (difference) throw new Error(`service and DuckDB differ: ${describe(question)}: ${difference}`);
    compared.push({ question, serviceMs: inService.ms, againMs: again.ms, duckMs: inDuck.ms });
  }
  return compared;
}

/** Asks the service alone; returns how long each answer took, in milliseconds. */
export async function askAll(questions: readonly Question[], client: ChartClient, zone?: string): Promise<number[]> {
  const times: number[] = [];
  for (const question of questions) times.push((await client.ask(question, zone)).ms);
  return times;
}
