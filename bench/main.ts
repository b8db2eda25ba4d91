// npm run bench [-- NAME …] [--small] [--all] [--database URL]: measures every row of the targets, or of the named
// works.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createContext, FULL, SMALL, type Work } from './context.ts';
import { openServer } from './database.ts';
import { stopAll } from './processes.ts';
import { describeRun, type Row, toText, writeResults } from './report.ts';
import { attribution } from './works/attribution.ts';
import { busy, charts, growth } from './works/charts.ts';
import { deliveries } from './works/deliveries.ts';
import { grants } from './works/grants.ts';
import { importing } from './works/import.ts';
import { latency } from './works/latency.ts';

// Attribution posts come last but one: the background work they cause would run beside the works that follow.
const WORKS: readonly Work[] = [charts, growth, busy, grants, deliveries, latency, attribution, importing];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    database: { type: 'string' },
  },
});

const stranger = positionals.find((name) => WORKS.every((work) => work.name !== name));
if (stranger !== undefined) {
  console.error(
    `There is no work ${stranger}. There are:\n${WORKS.map(({ name, words }) => `  ${name}: ${words}`).join('\n')}`,
  );
  process.exit(1);
}

const size = options.small ? SMALL : FULL;
const folder = fileURLToPath(new URL(`.data/${size.folder}/`, import.meta.url));
mkdirSync(folder, { recursive: true });
const began = performance.now();
const say = (words: string) =>
  console.error(`[${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s] ${words}`);
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
  const note = (words: string) => notes.push(words);
  const context = createContext({ size, server, folder, isAll: options.all, say, note });
  for (const work of WORKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    say(work.words);
    try {
      rows.push(...(await work.run(context)));
    } catch (error) {
      process.exitCode = 1;
      await stopAll();
      notes.push(`${work.words}: failed: ${(error as Error).message}`);
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
