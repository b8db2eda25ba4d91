// Builds src/ into dist/ if any of the inputs has changed since the last build (--force: always). Builds may run at the
// same time: each builds into a folder of its own, which it renames into place. Prints only to standard error, because
// `sps --json` runs it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DEPENDENCIES_CONFIG = 'scripts/dependencies.vite.config.js';
const INPUTS = [
  'src',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'scripts/build.js',
  DEPENDENCIES_CONFIG,
];
const DIST = join(ROOT, 'dist');
const STAMP = '.stamp';

/** The steps that build into `out`, in this order. */
const STEPS = [buildServer, buildDependencies, buildDashboard];

function buildServer(out) {
  const args = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', out];
  if (!runTool('typescript', 'bin/tsc', args)) throw new Error('the TypeScript compiler found errors');
}

function buildDependencies(out) {
  const args = ['build', ROOT, '--config', join(ROOT, DEPENDENCIES_CONFIG), '--outDir', join(out, 'node_modules')];
  if (!runTool('vite', 'bin/vite.js', args)) throw new Error('Vite found errors in the dependencies');
}

function buildDashboard(out) {
  const args = ['build', join(ROOT, 'src/dashboard'), '--outDir', join(out, 'dashboard')];
  if (!runTool('vite', 'bin/vite.js', args)) throw new Error('Vite found errors in the dashboard');
}

function runTool(name, program, args) {
  const path = join(createRequire(import.meta.url).resolve(`${name}/package.json`), '..', program);
  return spawnSync(process.execPath, [path, ...args], { stdio: ['ignore', 2, 2] }).status === 0;
}

/** Hashes the paths, sizes and modification times of all inputs, which takes milliseconds. */
function stampOf(inputs) {
  const hash = createHash('sha256');
  for (const path of inputs.flatMap(listFiles).sort()) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function listFiles(input) {
  const path = join(ROOT, input);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return existsSync(path) ? [path] : [];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function isFresh(stamp) {
  const file = join(DIST, STAMP);
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

/**
 * Renames `out` to dist/. If another build comes between our two renames, ours, which is as new or newer, replaces it.
 */
function replaceDist(out) {
  const old = `${out}-old`;
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(DIST)) renameSync(DIST, old);
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
    try {
      renameSync(out, DIST);
      break;
    } catch (error) {
      if (attempt === 20) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Removes the folders of builds that were killed. The name has the pid of the build. */
function removeLeftovers() {
  for (const name of readdirSync(ROOT)) {
    const pid = /^\.dist-(\d+)-/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) rmSync(join(ROOT, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function build() {
  // Taken before building, so that a file that changes meanwhile makes the result stale.
  const stamp = stampOf(INPUTS);
  if (isFresh(stamp) && !process.argv.includes('--force')) return;
  process.stderr.write('building dist/ …\n');
  removeLeftovers();
  const out = join(ROOT, `.dist-${process.pid}-${Date.now()}`);
  try {
    mkdirSync(out);
    for (const step of STEPS) step(out);
    writeFileSync(join(out, STAMP), stamp);
    // If sources have changed meanwhile, another process may already have built them; its build is newer.
    const current = stampOf(INPUTS);
    if (current === stamp || !isFresh(current)) replaceDist(out);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

// A released image has dist/ and no sources.
if (existsSync(join(ROOT, 'src'))) {
  try {
    build();
  } catch (error) {
    const isMissing = error.code === 'MODULE_NOT_FOUND';
    process.stderr.write(
      isMissing
        ? 'dist/ must be built, but TypeScript is not installed: run npm ci.\n'
        : `The build failed: ${error.message}.\n`,
    );
    process.exitCode = 1;
  }
}
