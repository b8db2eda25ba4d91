// What a reader makes of bytes that arrive in chunks of any size.
import { type Line, readLines } from '../../src/import/lines.ts';

async function* inChunks(content: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** Returns everything that `read` makes of the content. */
export async function collect<T>(
  content: string | Buffer,
  size: number,
  read: (lines: AsyncIterable<Line[]>) => AsyncIterable<T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for await (const group of read(readLines(inChunks(content, size)))) all.push(...group);
  return all;
}
