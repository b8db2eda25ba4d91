// npm run dev: rebuilds and restarts the service whenever src/ or migrations/ change (`npm run dev -- demo`: the demo).
// If a change does not build, the last version that did keeps running.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM = join(ROOT, process.argv[2] === 'demo' ? 'dist/demo/main.js' : 'dist/main.js');
const WATCHED = ['src', 'migrations'];
/** An editor may write several times for one save. */
const DEBOUNCE_MS = 150;

let running;
let isEnding = false;
let hasChanged = true;
let wake = () => {};

const log = (text) => process.stderr.write(`dev: ${text}\n`);

function build() {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.js')], { stdio: 'inherit' });
  return status === 0;
}

function start() {
  const child = spawn(process.execPath, ['--enable-source-maps', PROGRAM], { stdio: 'inherit' });
  running = { child, ended: once(child, 'exit') };
  running.ended.then(([code]) => {
    if (code && !isEnding) log(`exited with ${code}; waiting for a change`);
  });
}

/** Stops the service as Ctrl-C does: requests finish, then the database stops. */
async function stop() {
  running?.child.kill('SIGTERM');
  await running?.ended;
}

function shutDown() {
  isEnding = true;
  wake();
}

for (const folder of WATCHED) {
  watch(join(ROOT, folder), { recursive: true }, () => {
    hasChanged = true;
    wake();
  });
}
// On Ctrl-C the terminal signals the service too; the service takes our second signal for the same one.
process.on('SIGINT', shutDown).on('SIGTERM', shutDown);

while (!isEnding) {
  if (!hasChanged) {
    await new Promise((resolve) => {
      wake = resolve;
    });
    await sleep(DEBOUNCE_MS);
    continue;
  }
  hasChanged = false;
  if (!build()) log('waiting for a change');
  else if (!hasChanged && !isEnding) {
    await stop();
    start();
  }
}
await stop();
process.exit(0);
