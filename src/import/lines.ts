// Bytes → lines. A line longer than any record may be is skipped without being held in memory.
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export const MAX_LINE_BYTES = 1024 * 1024;

/** A line without its terminator; `bytes` is undefined if it was too long. Numbers start at 1. */
export interface Line {
  number: number;
  bytes: Buffer | undefined;
  /** Whether it ended in CRLF. */
  hadReturn: boolean;
}

/** Yields the lines of each chunk together: one iteration per line would cost more than the line. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 1;
  let rest: Buffer[] = [];
  let restLength = 0;

  function keep(bytes: Buffer): void {
    restLength += bytes.length;
    if (restLength > MAX_LINE_BYTES) rest = [];
    else rest.push(bytes);
  }
  function endLine(): Line {
    const isTooLong = restLength > MAX_LINE_BYTES;
    const whole = rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest);
    const begin = number === 1 && whole.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    const hadReturn = whole.at(-1) === RETURN;
    rest = [];
    restLength = 0;
    return {
      number: number++,
      bytes: isTooLong ? undefined : whole.subarray(begin, whole.length - Number(hadReturn)),
      hadReturn,
    };
  }

  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (;;) {
      const to = chunk.indexOf(NEWLINE, from);
      if (to === -1) break;
      keep(chunk.subarray(from, to));
      lines.push(endLine());
      from = to + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (restLength > 0) yield [endLine()];
}
