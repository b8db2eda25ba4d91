// The service processes of the soak, run as they are shipped, and how much memory each of their lives took.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Program, startProgram } from '../setup/processes.ts';

const run = promisify(execFile);
const SAMPLE_MS = 2_000;
const ENV = { PORT: '0', LOG_LEVEL: 'fatal', RATE_LIMIT_SERVER: '0', RATE_LIMIT_ANALYTICS: '0' };

interface Life {
  program: Program;
  url: string;
  /** Resident set sizes in MB, since the process was ready. */
  samples: number[];
  shouldBeRunning: boolean;
}

/** Whether the process has exited by itself or by a signal. */
function hasEnded({ program: { child } }: Life): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Ends a process on purpose; one that had already ended still counts as a death. */
function kill(life: Life, signal: 'SIGKILL' | 'SIGTERM'): void {
  if (hasEnded(life)) return;
  life.shouldBeRunning = false;
  life.program.child.kill(signal);
}

export class Fleet {
  readonly lives: Life[] = [];
  private readonly slots: Life[] = [];
  private readonly databaseUrl: string;
  private readonly sampling: NodeJS.Timeout;

  constructor(databaseUrl: string) {
    this.databaseUrl = databaseUrl;
    this.sampling = setInterval(() => void this.sample(), SAMPLE_MS);
  }

  /** Returns the address of a process that is ready, or was a moment ago. */
  url(chance: number): string {
    const slot = this.slots[Math.floor(chance * this.slots.length)];
    if (!slot) throw new Error('no process was started');
    return slot.url;
  }

  /** Counts the processes that ended although nobody killed them. */
  get deaths(): number {
    return this.lives.filter((life) => life.shouldBeRunning && hasEnded(life)).length;
  }

  async start(count: number): Promise<void> {
    for (let slot = 0; slot < count; slot++) this.slots[slot] = await this.launch();
  }

  async killAndReplace(slot: number): Promise<void> {
    const life = this.slots[slot];
    if (!life) throw new Error('no process to kill');
    kill(life, 'SIGKILL');
    await life.program.ended;
    this.slots[slot] = await this.launch();
  }

  async stop(): Promise<void> {
    clearInterval(this.sampling);
    for (const life of this.lives) kill(life, 'SIGTERM');
    await Promise.all(this.lives.map(({ program }) => program.ended));
  }

  private async launch(): Promise<Life> {
    const env = { ...ENV, DATABASE_URL: this.databaseUrl, WEBHOOK_ALLOW_PRIVATE: 'true' };
    const program = startProgram('dist/main.js', [], env);
    const life = { program, url: '', samples: [], shouldBeRunning: true };
    this.lives.push(life);
    const [, url = ''] = await program.printed(/ready: (\S+)\n/);
    life.url = url;
    return life;
  }

  private async sample(): Promise<void> {
    for (const life of this.lives) {
      if (!life.url || hasEnded(life)) continue;
      const pid = String(life.program.child.pid);
      const { stdout } = await run('ps', ['-o', 'rss=', '-p', pid]).catch(() => ({ stdout: '' }));
      if (Number(stdout) > 0) life.samples.push(Number(stdout) / 1024);
    }
  }
}
