// What one run of the demo leaves for the next: its app, the keys to revoke, the port of the receiver.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';

export interface DemoState {
  app_id?: string;
  /** The simulation's last moment, kept so that an interrupted load continues with the same people. */
  until?: string;
  is_loaded?: boolean;
  /** Keys that the last run printed. */
  key_ids?: string[];
  webhook?: { webhook_id: string; port: number; secret: string };
}

export interface DemoFolder {
  path: string;
  state: DemoState;
  /** Sets the members given and saves the state. */
  save: (changes: DemoState) => Promise<void>;
}

async function readState(file: string): Promise<DemoState> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    return JSON.parse(text) as DemoState;
  } catch {
    throw new OperatorError(`${file} is damaged: remove it to start the demo afresh.`);
  }
}

export async function openDemoFolder(dataDir: string): Promise<DemoFolder> {
  const path = join(dataDir, 'demo');
  const file = join(path, 'state.json');
  await mkdir(path, { recursive: true });
  const state = await readState(file);
  const save = async (changes: DemoState) => {
    Object.assign(state, changes);
    await writeFile(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  return { path, state, save };
}
