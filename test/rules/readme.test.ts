// The map in README.md leaves no folder of the service out.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('every folder of src/ is on the map', () => {
  const [, map = ''] = /^## Map\n([\s\S]*?)^## /m.exec(readFileSync('README.md', 'utf8')) ?? [];
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.map(({ name }) => `\`src/${name}/\``).filter((name) => !map.includes(name))).toEqual([]);
});
