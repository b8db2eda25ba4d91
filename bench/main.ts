// npm run bench [-- NAME …] [--small] [--all] [--database URL]: measures every row of the targets, or of the named
// benchmarks.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { attribution } from './benchmarks/attribution.ts';
import { busy, charts, growth } from './benchmarks/charts.ts';
import { deliveries } from './benchmarks/deliveries.ts';
import { grants } from './benchmarks/grants.ts';
import { importing } from './benchmarks/import.ts';
import { latency } from './benchmarks/latency.ts';
import { type Benchmark, createContext, FULL, SMALL } from './context.ts';
import { openServer } from './database.ts';
import { stopAll } from './processes.ts';
import { describeRun, type Row, toText, writeResults } from './report.ts';

// Attribution posts come last but one: the background work they cause would run beside the benchmarks that follow.
const BENCHMARKS: readonly Benchmark[] = [charts, growth, busy, grants, deliveries, latency, attribution, importing];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    database: { type: 'string' },
  },
});

const unknown = positionals.find((name) => BENCHMARKS.every((benchmark) => benchmark.name !== name));
if (unknown !== undefined) {
  console.error(
    `Unknown benchmark ${unknown}. Available:\n${BENCHMARKS.map(({ name, title }) => `  ${name}: ${title}`).join('\n')}`,
  );
  process.exit(1);
}

const size = options.small ? SMALL : FULL;
const folder = fileURLToPath(new URL(`.data/${size.folder}/`, import.meta.url));
mkdirSync(folder, { recursive: true });
const began = performance.now();
const log = (message: string) =>
  console.error(`[${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s] ${message}`);
const notes: string[] = [];
const rows: Row[] = [];

const server = await openServer(folder, options.database);
// A benchmark that is interrupted leaves no database running either.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server.close();
    process.exit(1);
  });
}
try {
  const note = (text: string) => notes.push(text);
  const context = createContext({ size, server, folder, isAll: options.all, log, note });
  for (const benchmark of BENCHMARKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    log(benchmark.title);
    try {
      rows.push(...(await benchmark.run(context)));
    } catch (error) {
      process.exitCode = 1;
      await stopAll();
      notes.push(`${benchmark.title}: failed: ${(error as Error).message}`);
      console.error(error);
    }
  }
} finally {
  await server.close();
}

const order = (id: string) => Number.parseFloat(id) * 100 + id.charCodeAt(id.length - 1);
rows.sort((a, b) => order(a.id) - order(b.id));
const facts = [...describeRun(server.version), `Took ${Math.round((performance.now() - began) / 6000) / 10} minutes`];
console.log([...facts, '', toText(rows), '', ...notes].join('\n'));
if (!options.small && positionals.length === 0) {
  writeResults(new URL('results.md', import.meta.url), { facts, rows, notes });
}
