// The map in README.md leaves out no folder of the service, and none of the files beside them.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const [, map = ''] = /^## Map\n([\s\S]*?)^## /m.exec(readFileSync('README.md', 'utf8')) ?? [];

test('every folder of src/ is on the map', () => {
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.map(({ name }) => `\`src/${name}/\``).filter((name) => !map.includes(name))).toEqual([]);
});

test('every file of src/ itself is on the map', () => {
  const files = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isFile());
  const isThere = (name: string) => map.includes(`\`src/${name}\``) || map.includes(`\`${name}\``);
  expect(files.map(({ name }) => name).filter((name) => !isThere(name))).toEqual([]);
});
