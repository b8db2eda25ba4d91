// When a failed delivery is retried (decisions.md 7). One constant holds the schedule, and the README's table is
// generated from it. Pure.

/** Waits after the first, second, … failure, in seconds. One more failure, and the delivery is dead. */
export const RETRY_WAITS_S: readonly number[] = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800];

const JITTER = 0.2;
export const MAX_WAIT_S = Math.max(...RETRY_WAITS_S) * (1 + JITTER);
/** How long a due delivery may go unnoticed if there is no nudge. */
export const NOTICED_WITHIN_S = 1;
const MAX_RETRY_AFTER_S = 3600;

/**
 * Returns the seconds from failure number `failures` (from 1) until the delivery is due again, or undefined if it is
 * dead. `random` lies in [0, 1) and spreads the wait by ±20 %, which includes the time until the due delivery is
 * noticed. The receiver's Retry-After can only lengthen the wait.
 */
export function waitAfterFailure(failures: number, random: number, retryAfterS = 0): number | undefined {
  const wait = RETRY_WAITS_S[failures - 1];
  if (wait === undefined) return undefined;
  const spread = 2 * JITTER * wait - NOTICED_WITHIN_S;
  return Math.max(wait * (1 - JITTER) + spread * random, Math.min(retryAfterS, MAX_RETRY_AFTER_S));
}

/** Parses a Retry-After header (seconds or an HTTP date) into seconds from `now`; 0 if there is nothing to wait for. */
export function parseRetryAfter(header: string, now: Date): number {
  // undici leaves trailing blanks.
  if (/^\d+\s*$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, (at - now.getTime()) / 1000);
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 360) / 10} h`;
}

/** Formats the schedule as a Markdown table. */
export function retryTable(): string {
  let elapsed = 0;
  const rows = RETRY_WAITS_S.map((wait, i) => {
    elapsed += wait;
    return `| ${i + 2} | ${formatSeconds(wait)} | ${formatSeconds(elapsed)} |`;
  });
  return [
    '| attempt | wait before it (±20 %) | time since the first |',
    '|---|---|---|',
    '| 1 | – | 0 s |',
    ...rows,
  ].join('\n');
}
