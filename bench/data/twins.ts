// Makes a large data set from a small one: every profile gets twins that bought the same at the same moments, but have
// the country and the advertisement of another profile. Facts are copied, which takes a tenth of the time of deriving
// them.
import type { Session } from '../../src/db/session.ts';
import type { App } from '../../src/deps.ts';

/** The columns in which a twin differs; all others are copied. */
type Replaced = Record<string, string>;

async function copyTable({ client }: Session, table: string, replaced: Replaced, from: string): Promise<void> {
  const { rows } = await client.query<{ column: string }>(
    `select attname as column from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  );
  const columns = rows.map(({ column }) => column);
  const values = columns.map((column) => replaced[column] ?? `old.${column}`);
  await client.query(
    `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${table} old ${from}`,
  );
}

/** Makes a table of twin number `copy` of each profile, with the country and attribution it has from another. */
async function makeTwins(
  { client }: Session,
  app: App,
  { copy, people }: { copy: number; people: number },
): Promise<void> {
  await client.query(`
    create temp table twin on commit drop as
    with numbered as (
      select p.*, substr(customer_user_id, 6)::integer as number, a.attribution_key
      from profile p left join profile_attribution a using (app_id, profile_id)
      where p.app_id = '${app.app_id}' and substr(customer_user_id, 6)::integer < ${people}
    )
    select one.profile_id, md5('${copy}' || one.profile_id)::uuid as twin_id,
      'user-' || one.number + ${copy * people} as customer_user_id,
      other.country, c.country_key, other.attribution_key
    from numbered one
    join numbered other on other.number = (one.number::bigint * 7919 + ${copy} * 104729) % ${people}
    join dim_country c on c.country = lower(other.country)`);
  await client.query('create unique index on twin (profile_id)');
  await client.query('analyze twin');
}

/** Adds twin number `copy` of each of the first `people` profiles. One transaction. */
export async function addTwins(session: Session, app: App, size: { copy: number; people: number }): Promise<void> {
  const { client } = session;
  await makeTwins(session, app, size);
  const { rows } = await client.query(`select max(purchase_no) as most from purchase where app_id = '${app.app_id}'`);
  const purchase_no = `old.purchase_no + ${rows[0].most}`;
  const same = { profile_id: 'twin.twin_id' };
  const ofApp = `join twin using (profile_id) where old.app_id = '${app.app_id}' order by twin.twin_id`;
  const ofKey = `join twin using (profile_id) where old.app_key = ${app.app_key} order by twin.twin_id`;
  const renamed = { store_original_transaction_id: `old.store_original_transaction_id || '.${size.copy}'` };
  const once = `case when old.purchase_type = 'one_time_purchase' then '.${size.copy}' else '' end`;

  await copyTable(
    session,
    'profile',
    { ...same, customer_user_id: 'twin.customer_user_id', country: 'twin.country' },
    ofApp,
  );
  await copyTable(session, 'profile_identity', { ...same, customer_user_id: 'twin.customer_user_id' }, ofApp);
  await client.query(`
    insert into profile_attribution (app_id, profile_id, attribution_key, recorded_at)
    select app_id, twin_id, attribution_key, installed_at
    from twin join profile using (profile_id)
    where app_id = '${app.app_id}' and attribution_key is not null order by twin_id`);
  const labels = { country_key: 'twin.country_key', attribution_key: 'coalesce(twin.attribution_key, 0)' };
  const profile_no = "nextval(pg_get_serial_sequence('fact_install', 'profile_no'))";
  await copyTable(session, 'fact_install', { ...same, ...labels, profile_no }, ofKey);
  await copyTable(session, 'purchase_chain', { ...same, ...renamed }, ofApp);
  await copyTable(
    session,
    'purchase',
    {
      ...same,
      ...renamed,
      purchase_no,
      purchase_id: 'gen_random_uuid()',
      price_country: 'twin.country',
      store_transaction_id: `old.store_transaction_id || ${once}`,
    },
    ofApp,
  );
  await copyTable(session, 'fact_transaction', { ...same, ...labels, purchase_no }, ofKey);
  await client.query(`
    insert into fact_pending (app_key, profile_id, purchase_no)
    select app_key, twin_id, ${purchase_no} from fact_transaction old ${ofKey}`);
  await client.query(
    `select setval(pg_get_serial_sequence('purchase', 'purchase_no'), max(purchase_no)) from purchase`,
  );
}
