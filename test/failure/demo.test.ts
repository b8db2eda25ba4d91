// The demo as a newcomer sees it: it prints three requests, which work as they stand, and a second run keeps the data.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { type Program, startProgram } from '../setup/processes.ts';

const run = promisify(execFile);
const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

let database: TestDatabase;
let folder: string;
const started: Program[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'sps-demo-'));
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
  await database.close();
});

function launchDemo(): Program {
  const demo = startProgram('dist/demo/main.js', [], { DATABASE_URL: database.url, SPS_DATA_DIR: folder, PORT: '0' });
  started.push(demo);
  return demo;
}

/** Starts the demo and returns the three commands that it prints. */
async function startDemo() {
  const demo = launchDemo();
  await demo.printed(/Press Ctrl-C to stop\./);
  const commands = demo
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('curl '));
  return { demo, commands };
}

async function paste(command = ''): Promise<string> {
  return (await run('sh', ['-c', command])).stdout;
}

async function stop({ child, ended }: Program): Promise<void> {
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
}

it('the demo can be stopped while it makes its people, and the next run goes on', { timeout: 60_000 }, async () => {
  const demo = launchDemo();
  await demo.printed(/Simulating 5000 people/);
  await stop(demo);
  expect(demo.stdout()).not.toMatch(/Imported \d+ transactions/);
});

describe.skipIf(!hasCurl)('npm run demo', { timeout: 120_000 }, () => {
  it('prints requests that work, receives the webhook, and begins again with new keys and the same data', async () => {
    const first = await startDemo();
    expect(first.demo.stdout()).toMatch(/Imported 5000 profiles .*\nImported \d{4} transactions/);
    const [attribution, grant, chart] = first.commands;
    expect(await paste(attribution)).toMatch(/^HTTP\/1\.1 201 /);
    const profile = JSON.parse(await paste(grant)).data;
    expect(profile).toMatchObject({ customer_user_id: 'user-1', access_levels: { premium: { expires_at: null } } });
    const mrr = JSON.parse(await paste(chart)).data.revenue;
    expect(mrr.value).toBeGreaterThan(1_000);
    expect(mrr.data.length).toBeGreaterThan(10);
    await first.demo.printed(/webhook received: access_level_updated of user-1, premium \(no end\), signature valid/);
    await stop(first.demo);

    const second = await startDemo();
    expect(second.demo.stdout()).not.toContain('Imported');
    const again = JSON.parse(await paste(second.commands[2])).data.revenue;
    expect(again.value).toBe(mrr.value);
    const oldKey = /Api-Key secret_\S+(?=')/.exec(chart ?? '')?.[0] ?? '';
    const withOldKey = second.commands[2]?.replace(/Api-Key secret_\S+(?=')/, oldKey);
    expect(JSON.parse(await paste(withOldKey))).toMatchObject({ status_code: 401, error_code: 'not_authenticated' });
    await paste(second.commands[1]);
    await second.demo.printed(/webhook received: access_level_updated/);
    await stop(second.demo);
  });
});

describe('a data directory that cannot be used is reported in one sentence', { timeout: 60_000 }, () => {
  async function failDemo(dataDir: string): Promise<string> {
    const demo = startProgram('dist/demo/main.js', [], {
      DATABASE_URL: database.url,
      SPS_DATA_DIR: dataDir,
      PORT: '0',
    });
    started.push(demo);
    expect(await demo.ended).toBe(1);
    return demo.stderr();
  }

  it('if it is a file, or holds a damaged state', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(await failDemo(file)).toBe(`Cannot use ${join(file, 'demo')} (ENOTDIR).\n`);
    const damaged = join(folder, 'damaged', 'demo');
    await mkdir(damaged, { recursive: true });
    await writeFile(join(damaged, 'state.json'), '{"app_id": ');
    expect(await failDemo(join(folder, 'damaged'))).toBe(
      `${join(damaged, 'state.json')} is damaged: remove it to start the demo afresh.\n`,
    );
  });
});
