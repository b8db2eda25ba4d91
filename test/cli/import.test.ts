// sps import, run as an operator runs it. For what a killed import leaves, see test/failure/import-kill.test.ts.
import { execFileSync } from 'node:child_process';
import { open, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createImportWorld, type ImportWorld, purchase } from './import-world.ts';
import { ended, PATIENCE } from './sps.ts';

let world: ImportWorld;
beforeAll(async () => {
  world = await createImportWorld();
});
afterAll(() => world.close());

test('an import prints its summary and names its rejects; the same file again changes nothing', PATIENCE, async () => {
  const profiles = await world.write('p.ndjson', [{ customer_user_id: 'ann' }, { country: 'US' }]);
  const rejects_file = `${profiles}.rejects.ndjson`;
  const answer = { read: 2, written: 1, unchanged: 0, rejected: 1, rejects_file };
  expect(await world.sps.json('import', 'profiles', profiles, '--app', world.app)).toEqual(answer);
  expect(JSON.parse(await readFile(rejects_file, 'utf8'))).toMatchObject({ line: 2 });

  const transactions = await world.write('t.ndjson', [purchase('ann', 't1')]);
  const first = await world.sps.run('import', 'transactions', transactions, '--app', world.app);
  const counts = 'read       1\nwritten    1\nunchanged  0\nrejected   0\n';
  expect(first).toEqual({ code: 0, stderr: '', stdout: counts });
  const again = await world.sps.json('import', 'transactions', transactions, '--app', world.app);
  expect(again).toEqual({ read: 1, written: 0, unchanged: 1, rejected: 0 });

  const odd = await world.write('odd.ndjson', [{ ...purchase('ann', 't2'), store_product_id: 'odd' }]);
  const { stdout } = await world.sps.attempt('import', 'transactions', odd, '--app', world.app);
  const words =
    'These products are not configured, so they open no access level (see `sps product add`): odd (stripe).';
  expect(stdout).toBe(`${counts}${words}\n`);
});

test('columns from which nothing is read are named', PATIENCE, async () => {
  const file = join(world.folder, 'misnamed.csv');
  await writeFile(file, 'customer_user_id,created_at\nmisnamed,2025-01-01T00:00:00Z\n');
  const { stdout } = await world.sps.attempt('import', 'profiles', file, '--app', world.app);
  expect(stdout).toContain('rejected   0\nIgnored unknown members or columns: "created_at".\n');
  expect(await world.sps.json('import', 'profiles', file, '--app', world.app)).toEqual({
    ...{ read: 1, written: 0, unchanged: 1, rejected: 0 },
    unknown_names: ['created_at'],
  });
});

test('importing a file without a single acceptable record ends with status 1', PATIENCE, async () => {
  const file = await world.write('wrong.ndjson', [{ customer_user_id: 'ann' }, {}]);
  const outcome = await world.sps.run('import', 'transactions', file, '--app', world.app, '--json');
  const answer = { read: 2, written: 0, unchanged: 0, rejected: 2, rejects_file: `${file}.rejects.ndjson` };
  expect(outcome).toEqual({ code: 1, stderr: '', stdout: `${JSON.stringify(answer)}\n` });
});

test('a pipe that cannot be imported is closed even while its writer stays', PATIENCE, async () => {
  const pipe = join(world.folder, 'odd.csv');
  execFileSync('mkfifo', [pipe]);
  const end = ended(world.sps.start('import', 'profiles', pipe, '--app', world.app));
  const feed = await open(pipe, 'w');
  await feed.write('a;b\n');
  expect(await end).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('no known column ("a;b")') });
  await feed.close();
});

test('what is piped to a link to /dev/stdin is imported; rejects lie beside the link', PATIENCE, async () => {
  const file = await world.write('piped.ndjson', [{ customer_user_id: 'piped' }, {}]);
  const link = join(world.folder, 'link.ndjson');
  await symlink('/dev/stdin', link);
  const outcome = await ended(world.sps.startPiped(file, 'import', 'profiles', link, '--app', world.app, '--json'));
  const answer = { read: 2, written: 1, unchanged: 0, rejected: 1, rejects_file: `${link}.rejects.ndjson` };
  expect(outcome).toEqual({ code: 0, stderr: '', stdout: `${JSON.stringify(answer)}\n` });
});

test.each([
  ['nowhere.ndjson', 'there is no such file'],
  ['nowhere.xlsx', 'its name must end in .ndjson, .jsonl or .csv'],
])('importing %s is refused', PATIENCE, async (name, message) => {
  const outcome = await world.sps.attempt('import', 'profiles', join(world.folder, name), '--app', world.app, '--json');
  expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
});
