// Starts the built service on a database of its own, makes its three requests and stops it. Run by the Node under test.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'sps-smoke-'));
chmodSync(folder, 0o711);
const env = { PATH: process.env.PATH, SPS_DATA_DIR: join(folder, 'data'), PORT: '0', LOG_LEVEL: 'warn' };
const today = new Date().toISOString().slice(0, 10);

function sps(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...args, '--json'], {
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

function startService() {
  const child = spawn(process.execPath, ['dist/main.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = new Promise((resolve, reject) => {
    child.stdout.on('data', (line) => resolve(/ready: (\S+)/.exec(line)?.[1]));
    child.once('exit', () => reject(new Error('the service exited before it was ready')));
  });
  return { child, url, ended };
}

async function post(url, key, body, headers = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Api-Key ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, json: text && JSON.parse(text) };
}

async function smoke(url) {
  const { app_id: app, public_key, secret_key } = sps('app', 'create', '--name', 'Smoke');
  sps('access-level', 'add', 'premium', '--app', app);
  const file = join(folder, 'profiles.ndjson');
  writeFileSync(file, `${JSON.stringify({ customer_user_id: 'ann', country: 'US', store: 'app_store' })}\n`);
  assert.equal(sps('import', 'profiles', file, '--app', app).written, 1);

  const attribution = { customer_user_id: 'ann', status: 'organic' };
  assert.deepEqual(await post(`${url}/api/v2/web-api/attribution/`, public_key, attribution), {
    status: 201,
    json: '',
  });

  const installs = { chart_id: 'installs', period_unit: 'day', filters: { date: [today, today] } };
  const chart = await post(`${url}/api/v1/client-api/metrics/analytics/`, secret_key, installs);
  assert.equal(chart.json.data.common.value, 1);

  const grant = `${url}/api/v2/server-side-api/purchase/profile/grant/access-level/`;
  const granted = await post(grant, secret_key, { access_level_id: 'premium' }, { 'service-customer-user-id': 'ann' });
  assert.equal(granted.json.data.access_levels.premium.expires_at, null);
}

const service = startService();
try {
  await smoke(await service.url);
  service.child.kill('SIGTERM');
  assert.equal(await service.ended, 0);
  console.log(`Node ${process.version}: started, three requests answered, stopped`);
} finally {
  service.child.kill('SIGTERM');
  await service.ended;
  rmSync(folder, { recursive: true, force: true });
}
