// Options that several commands have.
import { Option } from 'commander';

/** The app that a command is about. */
export function appOption(): Option {
  return new Option('--app <id>', 'id of the app').makeOptionMandatory();
}

export function choice(flags: string, words: string, choices: readonly string[]): Option {
  return new Option(flags, words).choices(choices);
}
