// An initial load is better off without the indexes of the facts: they are dropped before it and recreated at its end.
import type pg from 'pg';

const TABLES = "('fact_transaction', 'fact_install')";

export async function dropIndexes(client: pg.ClientBase): Promise<void> {
  await client.query(`create table if not exists bench_index as
    select indexname, indexdef from pg_indexes
    where schemaname = 'public' and tablename in ${TABLES} and indexname not in (select conname from pg_constraint)`);
  const { rows } = await client.query('select indexname from bench_index');
  for (const { indexname } of rows) await client.query(`drop index if exists ${indexname}`);
}

export async function createIndexes(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query('select indexdef from bench_index');
  for (const { indexdef } of rows) {
    await client.query(indexdef.replace('CREATE INDEX', 'CREATE INDEX IF NOT EXISTS'));
  }
}
