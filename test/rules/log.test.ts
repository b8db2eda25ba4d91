// docs/operations.md explains the names of background work that the log mentions.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSources } from './sources.ts';

const STARTED = /\bstartLoop\(\{[^}]*?\bname: '([^']+)'|\brepeat\(log, '([^']+)'/g;

test('every loop that the log may name is explained', () => {
  const names = readSources().flatMap(({ text }) => [...text.matchAll(STARTED)].map(([, one, other]) => one ?? other));
  expect(names.length).toBeGreaterThan(5);
  const docs = readFileSync('docs/operations.md', 'utf8').replace(/\s+/g, ' ');
  // A clock that cannot be read is not logged.
  expect(names.filter((name) => name !== 'clock' && !docs.includes(`\`${name}\``))).toEqual([]);
});
