// The built program on a database of the test file: one process per command, or many commands in one process.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const MANY = fileURLToPath(new URL('many.js', import.meta.url));

/** A timeout for programs, which start slowly on a busy machine. */
export const PATIENCE = { timeout: 120_000 };

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Sps {
  run: (...args: string[]) => Promise<Ended>;
  /** Like `run`, but all commands share one process and run one at a time. */
  attempt: (...args: string[]) => Promise<Ended>;
  /** Like `attempt`, with --json. Returns what was printed; throws unless the command succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: (...args: string[]) => Promise<any>;
  start: (...args: string[]) => ChildProcess;
  /** Starts the program with its standard output going to an open file. */
  startInto: (file: number, ...args: string[]) => ChildProcess;
  /** Starts the program with the contents of a file coming through a pipe to its standard input. */
  startPiped: (file: string, ...args: string[]) => ChildProcess;
  close: () => void;
}

/** Returns how a process ended and what it printed. */
export async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (text) => {
    stdout += text;
  });
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

export function createSps(given: Record<string, string>): Sps {
  const env = { PATH: process.env.PATH ?? '', ...given };
  const start = (...args: string[]) => spawn(process.execPath, [PROGRAM, ...args], { env });
  const startInto = (file: number, ...args: string[]) =>
    spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', file, 'pipe'] });
  // What Node.js calls a pipe to a child is a socket.
  const startPiped = (file: string, ...args: string[]) =>
    spawn('sh', ['-c', 'cat "$0" | "$@"', file, process.execPath, PROGRAM, ...args], { env });
  let many: ChildProcess | undefined;

  function attempt(...args: string[]): Promise<Ended> {
    many ??= fork(MANY, [PROGRAM], { env, execArgv: [] });
    const child = many;
    return new Promise((resolve, reject) => {
      const gone = (code: unknown) => {
        many = undefined;
        reject(new Error(`sps ${args.join(' ')} ended its process with ${code}`));
      };
      child.once('exit', gone);
      child.once('message', (ended) => {
        child.off('exit', gone);
        resolve(ended as Ended);
      });
      child.send(args);
    });
  }

  return {
    start,
    startInto,
    startPiped,
    run: (...args) => ended(start(...args)),
    attempt,
    json: async (...args) => {
      const { code, stdout, stderr } = await attempt(...args, '--json');
      if (code !== 0) throw new Error(`sps ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    close: () => void many?.kill('SIGKILL'),
  };
}
