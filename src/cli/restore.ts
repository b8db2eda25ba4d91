// sps restore: makes the embedded database from a backup, in a data directory that has none. Nothing else may use the
// directory meanwhile.
import type { Command } from 'commander';
import { restore } from '../db/embedded/restore.ts';
import { loadEmbeddedConfig } from './backup.ts';
import { printAnswer, watchSignals } from './perform.ts';

export function addCommands(program: Command): void {
  program
    .command('restore')
    .description('make the embedded database of SPS_DATA_DIR, where there is none, from a backup')
    .argument('<folder>')
    .action(async (folder: string) => {
      const { SPS_DATA_DIR } = loadEmbeddedConfig();
      const { signal, interrupted, ignore } = watchSignals(true);
      await Promise.race([restore(folder, SPS_DATA_DIR, signal), interrupted]).finally(ignore);
      const answer = { data_dir: SPS_DATA_DIR };
      const text = `Restored to ${SPS_DATA_DIR}; the next start of the service takes it up.`;
      await printAnswer(program, { answer, text });
    });
}
