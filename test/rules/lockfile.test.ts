// `npm ci` installs exactly what was locked: every package has a hash, including those for other platforms.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test.each(['package-lock.json', 'bench/package-lock.json'])('every package in %s has a hash', (file) => {
  const { packages } = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
  const [, ...installed] = Object.entries<{ integrity?: string }>(packages);
  expect(installed.length).toBeGreaterThan(50);
  expect(installed.filter(([, { integrity }]) => !integrity).map(([name]) => name)).toEqual([]);
});
