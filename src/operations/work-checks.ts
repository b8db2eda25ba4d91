// The checks of `sps doctor` on the service's own work: webhooks, totals, labels, and how long charts take.
import { CHART_IDS } from '../analytics/catalogue.ts';
import { readChartRequest } from '../analytics/request.ts';
import { createChartAnswers } from '../analytics/service.ts';
import { listAllApps } from '../apps/queries.ts';
import type { App, Deps } from '../deps.ts';
import { countBacklog } from '../facts/backlog.ts';
import { counted } from '../lib/counted.ts';
import { DAY_MS } from '../lib/datetime.ts';
import { listStoredSecrets } from '../webhooks/endpoint-queries.ts';
import { SealedError, sealedWith } from '../webhooks/sealing.ts';
import { readSecrets, storedValues } from '../webhooks/secrets.ts';
import type { Finding } from './finding.ts';
import { readWebhookFacts, type WebhookFacts } from './queries.ts';

const PENDING_WARNING_S = 600;
const BACKLOG_WARNING = 100_000;
const SLOW_CHART_MS = 2_000;
const CHARTS_BUDGET_MS = 30_000;
const CHARTS_DAYS = 365;

export async function checkWebhooks({ db, config, now }: Deps): Promise<Finding[]> {
  const at = now();
  const stored = await listStoredSecrets(db);
  const isClear = (value: string) => sealedWith(value) === undefined;
  const clear = config.SPS_ENCRYPTION_KEY ? stored.filter((row) => storedValues(row).some(isClear)) : [];
  const unreadable = stored.flatMap((row) => {
    try {
      readSecrets(row, config, at);
      return [];
    } catch (error) {
      if (!(error instanceof SealedError)) throw error;
      return [`those of ${row.webhook_id} are ${error.message}`];
    }
  });
  const unreadableMessage = `The secrets of ${counted(unreadable.length, 'webhook', 'webhooks')} cannot be read; ${unreadable[0]}: configure the missing key, or remove the webhook and add it again.`;
  const clearMessage = `The secrets of ${counted(clear.length, 'webhook', 'webhooks')} are stored in clear: \`sps secrets rotate\` encrypts them.`;
  const secrets = (state: Finding['state'], message: string): Finding => ({ check: 'webhook secrets', state, message });
  return [
    judgeWebhooks(await readWebhookFacts(db, at)),
    ...(unreadable.length === 0 ? [] : [secrets('problem', unreadableMessage)]),
    ...(clear.length === 0 ? [] : [secrets('warning', clearMessage)]),
  ];
}

function judgeWebhooks(facts: WebhookFacts): Finding {
  const { enabled, suspended, failing, pending, oldest_pending_seconds: oldest, ahead_of_clock: ahead, dead } = facts;
  const backlog = counted(pending, 'delivery is pending', 'deliveries are pending');
  const faults = [
    ...(suspended > 0 ? [`${suspended} suspended (see \`sps webhook list\`, then \`sps webhook resume\`)`] : []),
    ...(failing > 0 ? [`${failing} failing (see \`sps webhook deliveries\`)`] : []),
    ...(oldest !== null && oldest > PENDING_WARNING_S
      ? [`${backlog}, the oldest for ${Math.round(oldest / 60)} min (see \`sps webhook deliveries\`)`]
      : []),
    ...(ahead > 0
      ? [
          `${counted(ahead, 'delivery is', 'deliveries are')} scheduled in the future because the database's clock was set back (\`sps webhook resume\` makes them due now)`,
        ]
      : []),
    ...(dead > 0 ? [`${counted(dead, 'dead delivery', 'dead deliveries')} (\`sps webhook replay\`)`] : []),
  ];
  return {
    check: 'webhooks',
    state: suspended > 0 ? 'problem' : faults.length > 0 ? 'warning' : 'ok',
    message:
      faults.length > 0
        ? `Webhooks: ${faults.join(', ')}.`
        : `${counted(enabled, 'webhook is', 'webhooks are')} enabled; ${pending === 0 ? 'everything is delivered' : backlog}.`,
    figures: { ...facts },
  };
}

export async function checkBacklog({ db }: Deps): Promise<Finding[]> {
  const { labels_pending, ...facts } = await countBacklog(db);
  const pending = facts.facts_pending + facts.facts_retired + facts.facts_moved;
  return [
    judgeBacklog('totals', pending, {
      waits: `${counted(pending, 'fact is', 'facts are')} waiting to be added to the totals`,
      untilThen: 'charts stay exact but are slower until then',
      figures: facts,
    }),
    judgeBacklog('labels', labels_pending, {
      waits: `The facts of ${counted(labels_pending, 'profile', 'profiles')} are waiting for their new label`,
      untilThen: 'charts stay exact until then',
      figures: { labels_pending },
    }),
  ];
}

function judgeBacklog(
  check: string,
  pending: number,
  { waits, untilThen, figures }: { waits: string; untilThen: string; figures: Record<string, number> },
): Finding {
  if (pending <= BACKLOG_WARNING) return { check, state: 'ok', message: `${waits}.`, figures };
  return { check, state: 'warning', message: `${waits}; ${untilThen}: is a service running?`, figures };
}

interface Timed {
  app_id: string;
  chart_id: string;
  ms: number;
}

/** Times one chart. A chart that exceeds `timeoutMs` is cancelled; the time until then is a lower bound. */
async function timeChart(
  deps: Deps,
  app: App,
  {
    answers,
    chart_id,
    timeoutMs,
  }: { answers: ReturnType<typeof createChartAnswers>; chart_id: string; timeoutMs: number },
): Promise<Timed> {
  const now = deps.now();
  const day = (offset: number) => new Date(now.getTime() - offset * DAY_MS).toISOString().slice(0, 10);
  const body = { chart_id, period_unit: 'month', filters: { date: [day(CHARTS_DAYS), day(0)] } };
  const query = readChartRequest({ body, zoneHeader: undefined, appZone: app.timezone, now });
  const began = performance.now();
  const signal = AbortSignal.timeout(timeoutMs);
  await answers.plotChart(app, { query, signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return { app_id: app.app_id, chart_id, ms: Math.round(performance.now() - began) };
}

/** Draws every chart of every app over the last year, until the time budget is used up. */
export async function checkCharts(deps: Deps, budgetMs = CHARTS_BUDGET_MS): Promise<Finding> {
  const apps = await listAllApps(deps.db);
  const answers = createChartAnswers(deps);
  const timed: Timed[] = [];
  const end = performance.now() + budgetMs;
  for (const chart_id of CHART_IDS) {
    for (const app of apps) {
      const timeoutMs = Math.floor(end - performance.now());
      if (timeoutMs > 0) timed.push(await timeChart(deps, app, { answers, chart_id, timeoutMs }));
    }
  }
  return judgeCharts(timed, apps.length * CHART_IDS.length);
}

export function judgeCharts(timed: readonly Timed[], all: number): Finding {
  const slowest = timed.toSorted((a, b) => b.ms - a.ms)[0];
  if (!slowest) {
    const message = all > 0 ? `0 of ${all} charts were drawn in the time given.` : 'There is no app to draw charts of.';
    return { check: 'charts', state: 'unknown', message };
  }
  const slow = timed.filter(({ ms }) => ms > SLOW_CHART_MS);
  const incompleteNote = timed.length < all ? ` Only ${timed.length} of ${all} were drawn in the time given.` : '';
  const worst = `the slowest, ${slowest.chart_id} of the app ${slowest.app_id}, took ${slowest.ms} ms`;
  return {
    check: 'charts',
    state: slow.length > 0 ? 'warning' : 'ok',
    message: `A year of each chart: ${worst}.${incompleteNote}${
      slow.length > 0
        ? ` ${slow.length} took more than ${SLOW_CHART_MS / 1000} s: see docs/operations.md, "Slow charts".`
        : ''
    }`,
    figures: { slow: slow.length, drawn: timed.length, slowest_ms: slowest.ms, slowest_chart: slowest.chart_id },
  };
}
