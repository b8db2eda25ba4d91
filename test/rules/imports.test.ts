// Who may import whom. These tables are the documentation.
import { describe, expect, test } from 'vitest';
import { folderOf, readSources } from './sources.ts';

const sources = readSources();

/** What each folder may import besides itself and COMMON. The domain's dependencies never point back. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  config: [],
  lib: [],
  db: [],
  http: ['db', 'lib'],

  facts: ['db', 'lib'],
  apps: ['db', 'lib', 'http', 'facts'],
  webhooks: ['db', 'lib', 'http', 'apps'],
  profile: ['db', 'lib', 'http', 'facts'],
  changes: ['db', 'lib', 'http', 'facts', 'profile', 'webhooks'],
  attribution: ['db', 'lib', 'http', 'facts', 'profile'],
  purchases: ['db', 'lib', 'http', 'facts', 'profile', 'changes', 'webhooks'],
  grants: ['db', 'lib', 'http', 'profile', 'changes'],
  analytics: ['db', 'lib', 'http', 'facts'],
  import: ['db', 'lib', 'http', 'facts', 'profile', 'attribution', 'purchases'],
  'pools.ts': ['db', 'webhooks'],
  operations: ['db', 'lib', 'apps', 'facts', 'analytics', 'webhooks', 'pools.ts'],
};

/** Files of src/ itself that every folder may import: what a feature may ask for, and how it fails. */
const COMMON = [
  'deps.ts',
  'errors.ts',
  'operator-error.ts',
  'config.ts',
  'config/database-address.ts',
  'config/variable.ts',
];

/** The programs: they put the parts together, and nothing imports them. */
const PROGRAMS = [
  'main.ts',
  'cli.ts',
  'cli',
  'demo',
  'service.ts',
  'lifecycle.ts',
  'failure.ts',
  'log.ts',
  'log-blocks.ts',
  'version.ts',
  'app.ts',
  'routes.ts',
  'sweeps.ts',
  'reference',
];

/**
 * Files that say in their first lines that they are pure, and are held to it. Values in, values out: no driver, no
 * Fastify, no network, no files, no clock, no dice.
 */
const PURE = sources
  .filter(({ text }) => /\bpure\b/i.test(/^(\/\/.*\n)+/.exec(text)?.[0] ?? ''))
  .map(({ path }) => path);
const IMPURE_PACKAGES =
  /^(pg|kysely|fastify|@fastify\/|undici|pino|pg-copy-streams|node:(fs|net|http|https|dns|child_process|timers))/;
const CLOCK = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.|\bset(Timeout|Interval|Immediate)\(/;
const DICE = /\bMath\.random\b|\brandom(UUID|Bytes|Int)\(/;

describe('folders', () => {
  const folders = [...new Set(sources.map(({ path }) => folderOf(path)))];

  test.each(folders.filter((folder) => !PROGRAMS.includes(folder) && !COMMON.includes(folder)))(
    '%s imports only what the table says',
    (folder) => {
      const allowed = MAY_IMPORT[folder];
      expect(allowed, `src/${folder} is not in the table of imports`).toBeDefined();
      const strangers = sources
        .filter(({ path }) => folderOf(path) === folder)
        .flatMap(({ path, imports }) =>
          imports
            .filter(({ isOwn, target }) => isOwn && folderOf(target) !== folder)
            .filter(({ target }) => !COMMON.includes(target) && !allowed?.includes(folderOf(target)))
            .map(({ target }) => `${path} → ${target}`),
        );
      expect(strangers).toEqual([]);
    },
  );

  test('the table has no cycle', () => {
    const settled = new Set<string>();
    function visit(folder: string, trail: readonly string[]): void {
      expect(trail, `a cycle: ${[...trail, folder].join(' → ')}`).not.toContain(folder);
      if (settled.has(folder)) return;
      for (const next of MAY_IMPORT[folder] ?? []) visit(next, [...trail, folder]);
      settled.add(folder);
    }
    for (const folder of Object.keys(MAY_IMPORT)) visit(folder, []);
  });

  test('the table has no unused arrow', () => {
    const used = new Set(
      sources.flatMap(({ path, imports }) => imports.map(({ target }) => `${folderOf(path)} → ${folderOf(target)}`)),
    );
    const arrows = Object.entries(MAY_IMPORT).flatMap(([from, all]) => all.map((to) => `${from} → ${to}`));
    const present = arrows.filter((arrow) => folders.includes(arrow.split(' ')[0] ?? ''));
    expect(present.filter((arrow) => !used.has(arrow))).toEqual([]);
  });

  test('the folders that all others may import know nothing of features', () => {
    const wrong = sources
      .filter(({ path }) => COMMON.includes(path))
      .flatMap(({ path, imports }) => imports.map(({ target, isOwn, isType }) => ({ path, target, isOwn, isType })))
      .filter(
        ({ target, isOwn, isType }) => isOwn && !COMMON.includes(target) && !(isType && folderOf(target) === 'db'),
      );
    expect(wrong).toEqual([]);
  });
});

describe('files', () => {
  test('only route.ts of a feature knows Fastify', () => {
    const features = Object.keys(MAY_IMPORT).filter((folder) => !['lib', 'db', 'http'].includes(folder));
    const wrong = sources.filter(
      ({ path, imports }) =>
        features.includes(folderOf(path)) &&
        !path.endsWith('/route.ts') &&
        imports.some(({ target }) => /^(fastify|@fastify)(\/|$)/.test(target)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('process.env is read in config.ts alone', () => {
    const readers = sources.filter(({ text }) => /\bprocess\s*\.\s*env\b/.test(text.replaceAll(/\/\/.*$/gm, '')));
    expect(readers.map(({ path }) => path)).toEqual(['config.ts']);
  });

  test('many are pure', () => {
    expect(PURE.length).toBeGreaterThan(40);
  });

  test.each(PURE)('%s is pure', (path) => {
    const seen = new Set<string>();
    const faults: string[] = [];
    function visit(one: string): void {
      if (seen.has(one)) return;
      seen.add(one);
      const source = sources.find((each) => each.path === one);
      expect(source, `${one} does not exist`).toBeDefined();
      if (CLOCK.test(source?.text ?? '')) faults.push(`${one} reads the clock`);
      if (DICE.test(source?.text ?? '')) faults.push(`${one} throws dice`);
      for (const { target, isOwn, isType } of source?.imports ?? []) {
        if (isType) continue;
        if (isOwn) visit(target);
        else if (IMPURE_PACKAGES.test(target)) faults.push(`${one} imports ${target}`);
      }
    }
    visit(path);
    expect(faults).toEqual([]);
  });

  test('no file is a barrel, has a default export or is called utils', () => {
    const wrong = sources.filter(
      ({ path, text }) => /(^|\/)(index|utils?|helpers?)\.ts$/.test(path) || /^export (default|\*)/m.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('every file says in its first line what it is for, and has at most 250 lines', () => {
    const own = sources.filter(({ path }) => path !== 'db/types.ts');
    expect(own.filter(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text)).map(({ path }) => path)).toEqual([]);
    expect(own.filter(({ text }) => text.split('\n').length > 251).map(({ path }) => path)).toEqual([]);
  });
});
