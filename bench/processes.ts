// Child processes: the service as it ships, the references, the load generator.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 40_000;

export interface Running {
  url: string;
  pid: number;
  stop: () => Promise<void>;
}

const children = new Set<ChildProcess>();

/** Makes a child end when this process does, however that happens. */
function killOnExit(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Stops all children. Those left by a failed benchmark would run beside the next one, and keep this process from
 * ending.
 */
export async function stopAll(): Promise<void> {
  await Promise.all([...children].map(stopChild));
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/** Reads the URL that a program prints when it is ready to answer: `ready: http://…`. */
async function readUrl(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(
      () => reject(new Error(`${name} was not ready after ${START_TIMEOUT_MS / 1000} s`)),
      START_TIMEOUT_MS,
    );
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`${name} exited with ${code}; see its log below bench/.data`));
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      const url = /^ready: (\S+?),?(\s|$)/m.exec(text)?.[1];
      if (!url) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}

export interface ServiceOptions {
  databaseUrl: string;
  /** Where to write its log. */
  logFile: string;
  env?: Record<string, string>;
}

async function startProgram(
  name: string,
  args: string[],
  { databaseUrl, logFile, env }: ServiceOptions,
): Promise<Running> {
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', log],
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      PORT: '0',
      RATE_LIMIT_SERVER: '0',
      RATE_LIMIT_ANALYTICS: '0',
      RATE_LIMIT_ATTRIBUTION_PER_IP: '0',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SHUTDOWN_DELAY_MS: '0',
      ...env,
    },
  });
  killOnExit(child);
  closeSync(log);
  try {
    const url = await readUrl(child, name);
    return { url, pid: child.pid as number, stop: () => stopChild(child) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/**
 * Starts the service as it ships, with logs at info, metrics and all checks. Only the rate limits are off, and webhooks
 * may go to private addresses.
 */
export function startService(options: ServiceOptions): Promise<Running> {
  return startProgram('the service', [join(ROOT, 'dist/main.js')], options);
}

/** Starts a reference: a program in bench/reference that prints its URL. */
export function startReference(file: string, options: ServiceOptions): Promise<Running> {
  const program = fileURLToPath(new URL(`reference/${file}`, import.meta.url));
  return startProgram(file, ['--import', import.meta.resolve('tsx'), program], options);
}

/** Runs a program of the shipped service and returns its output; `onSample` gets its pid four times a second. */
export async function runProgram(
  args: string[],
  { databaseUrl, onSample }: { databaseUrl: string; onSample?: (pid: number) => void },
): Promise<string> {
  const child = spawn(
    process.execPath,
    args.map((arg) => (arg.startsWith('dist/') ? join(ROOT, arg) : arg)),
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    },
  );
  killOnExit(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const timer = onSample && setInterval(() => onSample(child.pid as number), 250);
  // After 'exit' some of its output may still be on the way.
  const [code] = await once(child, 'close');
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}`);
  return text;
}

/** Gives a job to a module of bench/load, in a process of its own, and returns the result. */
export async function runJob<Job extends object, Result>(file: string, job: Job): Promise<Result> {
  const child = startJob<Job, Result>(file, job);
  return child.result;
}

export interface RunningJob<Result> {
  result: Promise<Result>;
  /** Asks the job to end early; `result` then has what was measured so far. */
  finish: () => void;
}

export function startJob<Job extends object, Result>(file: string, job: Job): RunningJob<Result> {
  const program = fileURLToPath(new URL(`load/${file}`, import.meta.url));
  const child = fork(program, { execArgv: ['--import', import.meta.resolve('tsx')], cwd: ROOT });
  killOnExit(child);
  const result = new Promise<Result>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Result));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} exited with ${code} without a result`)));
  });
  child.send(job);
  return { result, finish: () => child.send({ finish: true }) };
}
