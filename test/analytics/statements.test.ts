// The SQL of charts: statements/*.sql hold some statements as they are assembled from a dozen files, so that whoever
// changes one of these files sees the effect. To write them again: npm run docs
import type { FastifyInstance } from 'fastify';
import { Kysely, PostgresDialect } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { createPool } from '../../src/db/client.ts';
import type { DB } from '../../src/db/types.ts';
import { startService, type TestService } from '../setup/service.ts';
import { CHARTS_PATH, importProfiles, importTransactions, totalAll } from './import.ts';

const NOW = new Date('2025-06-15T12:00:00.000Z');
const filters = { date: ['2025-04-01', '2025-06-30'] };
const QUESTIONS: Record<string, object> = {
  'revenue by country': { chart_id: 'revenue', segmentation: 'country', filters },
  'active subscriptions by attribution status': {
    chart_id: 'subscriptions_active',
    segmentation: 'attribution_status',
    filters,
  },
  'mrr in one store, compared': {
    chart_id: 'mrr',
    filters: { ...filters, store: ['app_store'], compare_date: ['2025-01-01', '2025-03-31'] },
  },
  'arpu of those installed, in Tokyo': { chart_id: 'arpu', date_type: 'profile_install_date', filters },
  'arppu by product': { chart_id: 'arppu', segmentation: 'store_product_id', filters },
};

let service: TestService;
let analyticsDb: Kysely<DB>;
let app: FastifyInstance;
let asked: string[] = [];
beforeAll(async () => {
  service = await startService({ now: () => NOW, app: { name: 'Statements', timezone: 'Europe/Berlin' } });
  const settings = { max: 1, statementTimeoutMs: 10_000, applicationName: 'sps-test' };
  const pool = createPool({ ...settings, connectionString: service.database.url }, () => {});
  analyticsDb = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      asked.push(query.sql);
    },
  });
  ({ app } = await buildApp({ ...service.deps, analyticsDb }));
  const profile = { customer_user_id: 'anna', installed_at: '2025-04-01T00:00:00Z', country: 'DE' };
  await importProfiles(service, [{ ...profile, attribution: { status: 'organic' } }]);
  await importTransactions(service, [
    {
      customer_user_id: 'anna',
      purchase_type: 'one_time_purchase',
      store: 'app_store',
      store_product_id: 'coins',
      store_transaction_id: 't',
      store_original_transaction_id: 't',
      price: { country: 'DE', currency: 'USD', value: 1 },
      purchased_at: '2025-05-01T00:00:00Z',
    },
  ]);
});
afterAll(async () => {
  await app.close();
  await analyticsDb.destroy();
  await service.close();
});

const PARTS = / (left join|cross join|(?<!left |cross )join|from|where|union all|group by|order by) /g;

/** Puts each clause on a line of its own. Comments stay as they are. */
function inLines(statement: string): string {
  const lines = statement.split('\n').map((line) => line.trim());
  return lines
    .filter(Boolean)
    .map((line) => (line.startsWith('--') ? line : line.replace(PARTS, '\n$1 ')))
    .join('\n')
    .replace(/ +$/gm, '');
}

/** Returns the statements that gather the figures for each question. */
async function listStatements(): Promise<string> {
  const sections: string[] = [];
  for (const [words, body] of Object.entries(QUESTIONS)) {
    asked = [];
    const headers = {
      authorization: `Api-Key ${service.secretKey}`,
      ...(words.includes('Tokyo') && { 'service-tz': 'Asia/Tokyo' }),
    };
    const { statusCode, body: answer } = await app.inject({ method: 'POST', url: CHARTS_PATH, headers, payload: body });
    expect(statusCode, answer).toBe(200);
    const figures = asked.filter((statement) => statement.trimStart().startsWith('with entry as'));
    expect(figures, words).toHaveLength(1);
    sections.push(`-- ${words}\n${figures.map(inLines).join('\n')};\n`);
  }
  return sections.join('\n');
}

test('statements/facts.sql has the statements that are used before there are totals', async () => {
  await expect(await listStatements()).toMatchFileSnapshot('statements/facts.sql');
});

test('statements/totals.sql has the statements that are used with totals while a label is pending', async () => {
  await totalAll(service.deps.db);
  const response = await service.call('POST', '/api/v2/web-api/attribution/', {
    key: service.publicKey,
    body: { status: 'non_organic', customer_user_id: 'anna' },
  });
  expect(response.status).toBe(201);
  await expect(await listStatements()).toMatchFileSnapshot('statements/totals.sql');
});
