// Row 9: importing transactions from nothing, compared with COPY of the same columns into a bare table.
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { RECORD_COLUMNS } from '../../src/purchases/columns.ts';
import type { Benchmark, Context } from '../context.ts';
import { createBenchApp } from '../data/app.ts';
import { writeFiles } from '../data/files.ts';
import { createWorld } from '../data/people.ts';
import { createDatabase, dropDatabase, openBenchSession, query, withClient } from '../database.ts';
import { median, residentMib, timed } from '../measure.ts';
import { runProgram } from '../processes.ts';
import { perSecond, type Row } from '../report.ts';

const DATABASE = 'sps_bench_import';

/**
 * Measures the reference: copies the records' columns, as text, into a table without indexes. Returns the median in ms.
 */
function copyBare(databaseUrl: string, file: string, rounds: number): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const columns = ['profile_id', ...RECORD_COLUMNS].join(', ');
    const out = client.query(copyTo(`copy (select ${columns} from purchase) to stdout`));
    await pipeline(out, createWriteStream(file));
    const times: number[] = [];
    while (times.length < rounds) {
      await client.query(`create table bare as select ${columns} from purchase limit 0`);
      const copy = () => pipeline(createReadStream(file), client.query(copyFrom('copy bare from stdin')));
      times.push((await timed(copy)).ms);
      await client.query('drop table bare');
    }
    return median(times);
  });
}

/** Compares resident memory in the second and the last quarter of the run: flat memory does not grow between them. */
function describeMemory(samples: readonly number[]): { text: string; isFlat: boolean } {
  const part = (from: number, to: number) => {
    const quarter = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to));
    return quarter.length > 0 ? median(quarter) : 0;
  };
  const [early, late] = [part(0.25, 0.5), part(0.75, 1)];
  return { text: `${Math.round(early)} → ${Math.round(late)} MiB`, isFlat: late <= early * 1.25 + 32 };
}

async function run({ size, server, folder, log, note }: Context): Promise<Row[]> {
  const files = { profiles: join(folder, 'profiles.ndjson'), transactions: join(folder, 'transactions.ndjson') };
  const bare = join(folder, 'purchase.copy');
  await dropDatabase(server, DATABASE);
  const databaseUrl = await createDatabase(server, DATABASE);
  try {
    await migrateToLatest(databaseUrl);
    const session = await openBenchSession(databaseUrl);
    const app = await createBenchApp(session);
    await session.close();
    const count = await writeFiles(createWorld(size.importProfiles, new Date().setUTCHours(0, 0, 0, 0)), files);

    const importFile = async (kind: keyof typeof files) => {
      const samples: number[] = [];
      const args = ['dist/cli.js', '--json', 'import', kind, files[kind], '--app', app.app_id];
      const onSample = (pid: number) => samples.push(residentMib(pid));
      const { ms, value } = await timed(() => runProgram(args, { databaseUrl, onSample }));
      log(`${kind}: ${value.trim()} in ${Math.round(ms / 100) / 10} s`);
      return { ms, samples };
    };
    const profiles = await importFile('profiles');
    const transactions = await importFile('transactions');
    const [row] = await query(databaseUrl, 'select count(*)::integer as count from purchase');
    if (row?.count !== count) throw new Error(`${row?.count} of ${count} transactions were imported`);
    const copyMs = await copyBare(databaseUrl, bare, size.rounds);

    const [rate, reference] = [count / (transactions.ms / 1000), count / (copyMs / 1000)];
    const memory = describeMemory(transactions.samples);
    note(
      `Row 9: ${size.importProfiles.toLocaleString('en')} profiles were imported before, at ${perSecond(size.importProfiles / (profiles.ms / 1000))}`,
    );
    return [
      {
        id: '9',
        work: `importing ${count.toLocaleString('en')} transactions (NDJSON) from nothing`,
        measured: `${perSecond(rate)}, memory ${memory.text}`,
        against: `COPY into a bare table: ${perSecond(reference)}`,
        ratio: rate / reference,
        goal: '≥ 0.15 ×, memory flat',
        isReached: rate >= 0.15 * reference && memory.isFlat,
      },
    ];
  } finally {
    await dropDatabase(server, DATABASE);
    for (const file of [...Object.values(files), bare]) rmSync(file, { force: true });
  }
}

export const importing: Benchmark = { name: 'import', title: 'row 9: importing transactions', run };
