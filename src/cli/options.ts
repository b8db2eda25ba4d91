// Options that several commands share.
import { type Command, InvalidArgumentError, Option } from 'commander';

/** The app that a command is about. */
export function appOption(): Option {
  return new Option('--app <id>', 'id of the app').makeOptionMandatory();
}

export function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

/**
 * Makes a command and those below it refuse empty values of their arguments and options, which most likely come from
 * unset shell variables.
 */
export function refuseEmptyValues(command: Command): void {
  const options = command.options.filter(({ required }) => required);
  for (const input of [...options, ...command.registeredArguments]) {
    const { parseArg } = input;
    input.argParser((text, previous) => {
      if (text === '') throw new InvalidArgumentError('It must not be empty.');
      return parseArg ? parseArg(text, previous) : text;
    });
  }
  for (const inner of command.commands) refuseEmptyValues(inner);
}

const MAX_LISTED = 1_000;

/** How many entries of a long list to show. */
export function limitOption(unlessGiven: number): Option {
  return new Option('--limit <count>', `maximum number to list, from 1 to ${MAX_LISTED}`)
    .default(unlessGiven)
    .argParser((text) => {
      const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      if (limit < 1 || limit > MAX_LISTED) throw new InvalidArgumentError(`It must be from 1 to ${MAX_LISTED}.`);
      return limit;
    });
}
