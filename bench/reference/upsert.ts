// The reference for rows 1 and 3: a bare Fastify route that runs one prepared upsert per request over a pool of 16.
import Fastify from 'fastify';
import pg from 'pg';

interface Body {
  status: string;
  channel: string | null;
  campaign: string | null;
  ad_group: string | null;
  ad_set: string | null;
  creative: string | null;
  attribution_user_id: string;
  customer_user_id: string;
}

const UPSERT = `insert into bare_attribution
    (customer_user_id, status, attribution_user_id, channel, campaign, ad_group, ad_set, creative, recorded_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, now())
  on conflict (customer_user_id) do update set
    status = excluded.status, attribution_user_id = excluded.attribution_user_id, channel = excluded.channel,
    campaign = excluded.campaign, ad_group = excluded.ad_group, ad_set = excluded.ad_set, creative = excluded.creative,
    recorded_at = excluded.recorded_at`;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '', max: 16 });
const app = Fastify();

app.post<{ Body: Body }>('/attribution', async ({ body }, reply) => {
  await pool.query({
    name: 'upsert',
    text: UPSERT,
    values: [
      body.customer_user_id,
      body.status,
      body.attribution_user_id,
      body.channel,
      body.campaign,
      body.ad_group,
      body.ad_set,
      body.creative,
    ],
  });
  return reply.code(201).send();
});

process.once('SIGTERM', () => {
  void app.close().then(() => pool.end());
});
process.stdout.write(`ready: ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
