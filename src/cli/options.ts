// Options that several commands share.
import { InvalidArgumentError, Option } from 'commander';

/** The app that a command is about. */
export function appOption(): Option {
  return new Option('--app <id>', 'id of the app').argParser(nonEmpty).makeOptionMandatory();
}

export function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

/** Parses the value of an option. An empty one most likely comes from an unset shell variable, so it is refused. */
export function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

const MAX_LISTED = 1_000;

/** How many entries of a long list to show. */
export function limitOption(): Option {
  return new Option('--limit <count>', `maximum number to list, from 1 to ${MAX_LISTED} (default: 50)`).argParser(
    (text) => {
      const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      if (limit < 1 || limit > MAX_LISTED) throw new InvalidArgumentError(`It must be from 1 to ${MAX_LISTED}.`);
      return limit;
    },
  );
}
