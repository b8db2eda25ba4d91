// sps restore: makes the embedded database from a backup, in a data directory that has none. Nothing else may use the
// directory meanwhile.
import type { Command } from 'commander';
import { restore } from '../db/embedded/restore.ts';
import { loadEmbeddedConfig } from './backup.ts';
import { printAnswer, watchSignals } from './perform.ts';

export function addCommands(program: Command): void {
  program
    .command('restore')
    .description('create the embedded database in SPS_DATA_DIR from a backup; there must be none yet')
    .argument('<folder>')
    .action(async (folder: string) => {
      const { SPS_DATA_DIR } = loadEmbeddedConfig();
      const { signal, interrupted, stopWatching } = watchSignals(true);
      await Promise.race([restore(folder, SPS_DATA_DIR, signal), interrupted]).finally(stopWatching);
      const answer = { data_dir: SPS_DATA_DIR };
      const text = `Restored to ${SPS_DATA_DIR}; the service uses it from its next start.`;
      await printAnswer(program, { answer, text });
    });
}
