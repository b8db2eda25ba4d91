// Standard output: prints an answer whole, or piece by piece if it is too large for that.
import { OperatorError } from '../operator-error.ts';
import { toJson } from './harmless.ts';

/** Rejects with the code of what went wrong: EPIPE if the reader has left. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

export async function print(text: string): Promise<void> {
  try {
    await write(`${text}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A reader that has had enough, such as `head`, is no failure.
    if (code === 'EPIPE') return;
    throw new OperatorError(`The command succeeded, but its output could not be written (${code}).`);
  }
}

export interface ObjectPrinter {
  /** Prints a member. A list is given a few rows at a time. */
  member: (name: string, value: object | AsyncIterable<object[]>) => Promise<void>;
  end: () => Promise<void>;
}

/**
 * Prints an object in the format of `toJson`, member by member. Output that is cut off lacks its end, and so is not
 * valid JSON.
 */
export function startObject(indent: number): ObjectPrinter {
  const line = (depth: number) => (indent > 0 ? `\n${' '.repeat(depth * indent)}` : '');
  const nested = (value: unknown, depth: number) => toJson(value, indent).replaceAll('\n', line(depth));
  let before = '{';

  async function part(text: string): Promise<void> {
    await write(text).catch(({ code }: NodeJS.ErrnoException) => {
      throw new OperatorError(`The output could not be written completely (${code}).`);
    });
  }

  async function list(pages: AsyncIterable<object[]>): Promise<void> {
    let beforeRow = '[';
    for await (const rows of pages) {
      let text = '';
      for (const row of rows) {
        text += `${beforeRow}${line(2)}${nested(row, 2)}`;
        beforeRow = ',';
      }
      await part(text);
    }
    await part(beforeRow === '[' ? '[]' : `${line(1)}]`);
  }

  return {
    async member(name, value) {
      await part(`${before}${line(1)}${toJson(name)}:${indent > 0 ? ' ' : ''}`);
      before = ',';
      await (Symbol.asyncIterator in value ? list(value) : part(nested(value, 1)));
    },
    end: () => part(`${line(0)}}\n`),
  };
}
