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
import { type Measured, rateOf, ratioOf } from '../rounds.ts';

const DATABASE = 'sps_bench_import';

interface Files {
  profiles: string;
  transactions: string;
  /** The imported transactions as COPY writes them. */
  bare: string;
  /** How many records each file has. */
  counts: { profiles: number; transactions: number };
}

async function writeAll({ size, folder }: Context): Promise<Files> {
  const files = { profiles: join(folder, 'profiles.ndjson'), transactions: join(folder, 'transactions.ndjson') };
  const transactions = await writeFiles(createWorld(size.importProfiles, new Date().setUTCHours(0, 0, 0, 0)), files);
  return { ...files, bare: join(folder, 'purchase.copy'), counts: { profiles: size.importProfiles, transactions } };
}

interface Import extends Measured {
  /** Resident memory of the process during the import, in MiB. */
  memory: number[];
}

const rate = (rows: number, ms: number): Measured => ({ perSecond: rows / (ms / 1000) });

/** Imports the profiles, then the transactions, into a new database. */
async function importAll(
  databaseUrl: string,
  files: Files,
  { log }: Context,
): Promise<{ profiles: Measured; transactions: Import }> {
  await migrateToLatest(databaseUrl);
  const session = await openBenchSession(databaseUrl);
  const app = await createBenchApp(session);
  await session.close();
  const importFile = async (kind: 'profiles' | 'transactions'): Promise<Import> => {
    const memory: number[] = [];
    const args = ['dist/cli.js', '--json', 'import', kind, files[kind], '--app', app.app_id];
    const onSample = (pid: number) => memory.push(residentMib(pid));
    const { ms, value } = await timed(() => runProgram(args, { databaseUrl, onSample }));
    log(`${kind}: ${value.trim()} in ${Math.round(ms / 100) / 10} s`);
    return { ...rate(files.counts[kind], ms), memory };
  };
  const profiles = await importFile('profiles');
  const transactions = await importFile('transactions');
  const [row] = await query(databaseUrl, 'select count(*)::integer as count from purchase');
  const { transactions: count } = files.counts;
  if (row?.count !== count) throw new Error(`${row?.count} of ${count} transactions were imported`);
  return { profiles, transactions };
}

/** The reference: copies the columns of the imported records, as text, into a table without indexes. */
function copyBare(databaseUrl: string, { bare, counts }: Files): Promise<Measured> {
  return withClient(databaseUrl, async (client) => {
    const columns = ['profile_id', ...RECORD_COLUMNS].join(', ');
    const out = client.query(copyTo(`copy (select ${columns} from purchase) to stdout`));
    await pipeline(out, createWriteStream(bare));
    await client.query(`create table bare as select ${columns} from purchase limit 0`);
    const copy = () => pipeline(createReadStream(bare), client.query(copyFrom('copy bare from stdin')));
    return rate(counts.transactions, (await timed(copy)).ms);
  });
}

/**
 * Compares memory in the second and the last quarter of each import: flat memory does not grow between them. The text
 * describes the import whose memory grew most.
 */
function describeMemory(imports: readonly Import[]): { text: string; isFlat: boolean } {
  const grown = imports.map(({ memory }) => {
    const part = (from: number, to: number) => {
      const quarter = memory.slice(Math.floor(memory.length * from), Math.ceil(memory.length * to));
      return quarter.length > 0 ? median(quarter) : 0;
    };
    return { early: part(0.25, 0.5), late: part(0.75, 1) };
  });
  const worst = grown.reduce((one, other) => (other.late - other.early > one.late - one.early ? other : one));
  return {
    text: `${Math.round(worst.early)} → ${Math.round(worst.late)} MiB`,
    isFlat: grown.every(({ early, late }) => late <= early * 1.25 + 32),
  };
}

async function run(context: Context): Promise<Row[]> {
  const { size, server, log, note } = context;
  const files = await writeAll(context);
  const [profiles, imports, copies]: [Measured[], Import[], Measured[]] = [[], [], []];
  try {
    for (let round = 1; round <= size.rounds; round++) {
      await dropDatabase(server, DATABASE);
      const databaseUrl = await createDatabase(server, DATABASE);
      const imported = await importAll(databaseUrl, files, context);
      profiles.push(imported.profiles);
      imports.push(imported.transactions);
      copies.push(await copyBare(databaseUrl, files));
      log(
        `round ${round}: import ${perSecond(imports.at(-1)!.perSecond)}, copy ${perSecond(copies.at(-1)!.perSecond)}`,
      );
    }
  } finally {
    await dropDatabase(server, DATABASE);
    for (const file of [files.profiles, files.transactions, files.bare]) rmSync(file, { force: true });
  }

  const ratio = ratioOf(imports, copies);
  const memory = describeMemory(imports);
  note(`Row 9: ${size.importProfiles.toLocaleString('en')} profiles were imported before, at ${rateOf(profiles)}`);
  return [
    {
      id: '9',
      work: `importing ${files.counts.transactions.toLocaleString('en')} transactions (NDJSON) from nothing`,
      measured: `${rateOf(imports)}, memory ${memory.text}`,
      against: `COPY into a bare table: ${rateOf(copies)}`,
      ratio,
      goal: '≥ 0.15 ×, memory flat',
      isReached: ratio >= 0.15 && memory.isFlat,
    },
  ];
}

export const importing: Benchmark = { name: 'import', title: 'row 9: importing transactions', run };
