// What sps says when it cannot do what it is asked, and in its help.
import { closeSync, existsSync, openSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { createSps, ended, PATIENCE, type Sps } from './sps.ts';

let database: TestDatabase;
let sps: Sps;
beforeAll(async () => {
  database = await createTestDatabase();
  sps = createSps({ DATABASE_URL: database.url });
});
afterAll(async () => {
  sps.close();
  await database.close();
});

describe(
  'an error is one sentence on standard error, with exit code 1 and nothing on standard output',
  PATIENCE,
  () => {
    const nowhere = '00000000-0000-4000-8000-000000000000';

    async function expectError(how: 'run' | 'attempt', args: string[], message: string): Promise<void> {
      const outcome = await sps[how](...args, '--json');
      expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
      expect(outcome.stderr).not.toContain('    at ');
    }

    test.each([
      [['app', 'create'], "required option '--name <name>' not specified"],
      [['key', 'list', '--app', nowhere], `There is no app ${nowhere}`],
    ])('sps %j, run as a process of its own', (args, message) => expectError('run', args, message));

    test.each([
      [['app', 'create', '--name', 'X', '--profile-shape', 'cube'], 'Allowed choices are dictionary, array.'],
      [['webhook', 'replay', '--since', '2025-01-01T00:00:00Z'], 'Give a webhook and --since, or --delivery alone.'],
      [['product', 'import', '/nowhere.json', '--app', nowhere], 'Cannot read /nowhere.json: there is no such file.'],
      [['webhook', 'deliveries', nowhere, '--limit', '0'], 'It must be from 1 to 1000.'],
      [['webhook', 'deliveries', nowhere, '--limit', '1001'], 'It must be from 1 to 1000.'],
      [['webhook', 'deliveries', nowhere, '--limit', '1000'], `There is no webhook ${nowhere}`],
      [['webhook', 'change', nowhere, '--authorization-file', ''], 'It must not be empty.'],
      [['webhook', 'change', nowhere, '--events', ''], 'It must not be empty.'],
      [['webhook', 'add', '--app', nowhere, '--url', 'https://example.com', '--events', ''], 'It must not be empty.'],
      [['product', 'add', '--app', nowhere, '--access-level', ''], 'It must not be empty.'],
      [['product', 'remove', '--app', nowhere, '--store', ''], 'It must not be empty.'],
      [['key', 'list', '--app', ''], 'It must not be empty.'],
      [['webhook', 'list', '--app', ''], 'It must not be empty.'],
      [['webhook', 'replay', '--delivery', ''], 'It must not be empty.'],
      [['profile', 'export', '--app', nowhere, '--customer-user-id', ''], 'It must not be empty.'],
      [['profile', 'export', '--app', nowhere, '--profile-id', ''], 'It must not be empty.'],
      [['store', 'set', '--app', nowhere, '--store', 'stripe', '--title', ''], 'It must not be empty.'],
      [['app', 'change', ''], 'It must not be empty.'],
      [['webhook', 'test', ''], 'It must not be empty.'],
      [['webhook', 'deliveries', nowhere, '--state', ''], 'It must not be empty.'],
      [['backup', ''], 'It must not be empty.'],
      [['restore', ''], 'It must not be empty.'],
      [['rate', 'import', '/nowhere.csv'], 'Cannot read /nowhere.csv: there is no such file.'],
    ])('sps %j', (args, message) => expectError('attempt', args, message));

    test('a database that does not answer, and a wrong configuration', async () => {
      const away = createSps({ DATABASE_URL: 'postgres://x:secret-password@127.0.0.1:1/x' });
      const outcome = await away.run('app', 'list');
      expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining('127.0.0.1:1 does not answer') });
      expect(outcome.stderr).not.toContain('secret-password');
      const stopped = createSps({ DATABASE_URL: 'postgres:///x?host=/nowhere' });
      expect(await stopped.run('app', 'list')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('The database at /nowhere/.s.PGSQL.5432 does not answer (ENOENT)'),
      });
      const wrong = createSps({ DATABASE_URL: 'mysql://x', PORT: 'x' });
      expect(await wrong.run('app', 'list')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/PORT must be .*\n.*DATABASE_URL must be/s),
      });
    });

    test.runIf(existsSync('/dev/full'))('an answer that cannot be written', async () => {
      const full = openSync('/dev/full', 'w');
      const child = sps.startInto(full, 'app', 'list');
      closeSync(full);
      const stderr = 'sps: The command succeeded, but its output could not be written (ENOSPC).\n';
      expect(await ended(child)).toMatchObject({ code: 1, stderr });
    });

    test('a reader that has had enough is no error', async () => {
      const child = sps.start('app', 'list');
      child.stdout?.destroy();
      expect(await ended(child)).toMatchObject({ code: 0, stderr: '' });
    });
  },
);

test('--help is available everywhere', PATIENCE, async () => {
  const page = { code: 0, stdout: expect.stringMatching(/Usage: sps.*--json/s) };
  expect(await sps.run('--help')).toMatchObject(page);
  for (const command of [
    ['app', 'create'],
    ['import', 'profiles'],
  ]) {
    expect(await sps.attempt(...command, '--help')).toMatchObject(page);
  }
});
