// Rows in the binary format of COPY (PostgreSQL's documentation, "COPY", Binary Format): numbers, timestamps and ids
// arrive as the server stores them. Parsing them from text made up two fifths of the server's cost of copying a
// transaction. Each writer is given the offset at which to begin and returns the one at which it ended; the caller has
// made enough room.

/** A timestamptz is given as a timestamp of lib/datetime.ts, a numeric as decimal text without an exponent. */
export type CopyValue = string | number | bigint | boolean | null;

export type CopyType = 'text' | 'uuid' | 'boolean' | 'integer' | 'bigint' | 'numeric' | 'timestamptz';

type Writer = (bytes: Buffer, at: number, value: CopyValue) => number;

function writeInt16(bytes: Buffer, at: number, number: number): number {
  bytes[at] = number >> 8;
  bytes[at + 1] = number;
  return at + 2;
}

function writeInt32(bytes: Buffer, at: number, number: number): number {
  bytes[at] = number >> 24;
  bytes[at + 1] = number >> 16;
  bytes[at + 2] = number >> 8;
  bytes[at + 3] = number;
  return at + 4;
}

const HIGH = 2 ** 32;

function writeBigint(bytes: Buffer, at: number, value: number | bigint): number {
  const begin = writeInt32(bytes, at, 8);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) return bytes.writeBigInt64BE(BigInt(value), begin);
  return writeInt32(bytes, writeInt32(bytes, begin, Math.floor(number / HIGH)), number % HIGH);
}

/** Longer texts are written faster by Node.js itself. */
const SHORT = 64;

function writeText(bytes: Buffer, at: number, text: string): number {
  const begin = at + 4;
  if (text.length > SHORT) return writeUnicode(bytes, at, text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return writeUnicode(bytes, at, text);
    bytes[begin + i] = code;
  }
  writeInt32(bytes, at, text.length);
  return begin + text.length;
}

function writeUnicode(bytes: Buffer, at: number, text: string): number {
  const length = bytes.write(text, at + 4);
  return writeInt32(bytes, at, length) + length;
}

function numberAt(text: string, place: number, digits: number): number {
  let number = 0;
  for (let i = place; i < place + digits; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) throw new TypeError(`no digit at ${i} of a value of COPY`);
    number = number * 10 + digit;
  }
  return number;
}

const NO_NIBBLE = 255;
/** Indexed by character code: the value of a hexadecimal digit, NO_NIBBLE for any other ASCII character. */
const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) => {
  const nibble = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(nibble) ? NO_NIBBLE : nibble;
});
/** Where each byte of a uuid begins in its text. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const UUID_LENGTH = 36;
const HYPHEN = '-'.charCodeAt(0);
const HYPHEN_PLACES = [8, 13, 18, 23];

function hasUuidShape(text: string): boolean {
  if (text.length !== UUID_LENGTH) return false;
  for (let i = 0; i < HYPHEN_PLACES.length; i++) {
    if (text.charCodeAt(HYPHEN_PLACES[i]!) !== HYPHEN) return false;
  }
  return true;
}

function writeUuid(bytes: Buffer, at: number, text: string): number {
  const begin = writeInt32(bytes, at, PLACES.length);
  let seen = 0;
  for (let i = 0; i < PLACES.length; i++) {
    const place = PLACES[i]!;
    const high = NIBBLES[text.charCodeAt(place)] ?? NO_NIBBLE;
    const low = NIBBLES[text.charCodeAt(place + 1)] ?? NO_NIBBLE;
    seen |= high | low;
    bytes[begin + i] = high * 16 + low;
  }
  if (seen > 15 || !hasUuidShape(text)) throw new TypeError('a value of COPY is not a UUID');
  return begin + PLACES.length;
}

/** Writes the digits in groups of four, counted from the decimal point in both directions. */
function writeNumeric(bytes: Buffer, begin: number, text: string): number {
  const point = text.indexOf('.');
  const sign = text.startsWith('-') ? 1 : 0;
  const end = point === -1 ? text.length : point;
  const decimals = point === -1 ? 0 : text.length - point - 1;
  const before = Math.ceil((end - sign) / 4);
  const groups = before + Math.ceil(decimals / 4);
  let at = writeInt32(bytes, begin, 8 + 2 * groups);
  for (const header of [groups, before - 1, sign * 0x4000, decimals]) at = writeInt16(bytes, at, header);
  for (let to = end - 4 * (before - 1); to <= end; to += 4) {
    const from = Math.max(to - 4, sign);
    at = writeInt16(bytes, at, numberAt(text, from, to - from));
  }
  for (let from = point + 1; from <= point + decimals; from += 4) {
    const digits = Math.min(4, text.length - from);
    at = writeInt16(bytes, at, numberAt(text, from, digits) * 10 ** (4 - digits));
  }
  return at;
}

const EPOCH_DAYS = 730_425;

/** Returns days since 2000 in the Gregorian calendar. Years begin in March here, so that a leap day is the last one. */
function daysSince2000(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const m = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + Math.floor((153 * m + 2) / 5) + day - 1 - EPOCH_DAYS;
}

const TIMESTAMP_LENGTH = '2025-01-15T10:30:00.123456Z'.length;

function writeTimestamp(bytes: Buffer, at: number, text: string): number {
  if (text.length !== TIMESTAMP_LENGTH || !text.endsWith('Z'))
    throw new TypeError('a value of COPY is not a timestamp');
  const days = daysSince2000(numberAt(text, 0, 4), numberAt(text, 5, 2), numberAt(text, 8, 2));
  const seconds = days * 86_400 + numberAt(text, 11, 2) * 3600 + numberAt(text, 14, 2) * 60 + numberAt(text, 17, 2);
  const micros = numberAt(text, 20, 6);
  const number = seconds * 1_000_000 + micros;
  const exact = Number.isSafeInteger(number) ? number : BigInt(seconds) * 1_000_000n + BigInt(micros);
  return writeBigint(bytes, at, exact);
}

function writeInteger(bytes: Buffer, at: number, number: number): number {
  return writeInt32(bytes, writeInt32(bytes, at, 4), number);
}

function writeBoolean(bytes: Buffer, at: number, value: boolean): number {
  const begin = writeInt32(bytes, at, 1);
  bytes[begin] = Number(value);
  return begin + 1;
}

export const WRITERS = {
  text: writeText,
  uuid: writeUuid,
  boolean: writeBoolean,
  integer: writeInteger,
  bigint: writeBigint,
  numeric: writeNumeric,
  timestamptz: writeTimestamp,
} as unknown as Readonly<Record<CopyType, Writer>>;

/** No value takes more bytes than this plus three for each character of its text. */
const MAX_BYTES = 20;

export interface Block {
  bytes: Buffer;
  /** How many of the bytes are written. */
  length: number;
}

export function createBlock(size: number): Block {
  return { bytes: Buffer.allocUnsafeSlow(size), length: 0 };
}

function makeRoom(block: Block, at: number, value: CopyValue): Buffer {
  const end = at + MAX_BYTES + (typeof value === 'string' ? 3 * value.length : 0);
  if (end <= block.bytes.length) return block.bytes;
  const old = block.bytes;
  block.bytes = Buffer.allocUnsafeSlow(2 * end);
  old.copy(block.bytes, 0, 0, at);
  return block.bytes;
}

/** Writes a row, with one writer per column. */
export function writeRow(block: Block, writers: readonly Writer[], row: readonly CopyValue[]): void {
  let at = writeInt16(makeRoom(block, block.length, null), block.length, writers.length);
  for (let i = 0; i < writers.length; i++) {
    const value = row[i]!;
    const bytes = makeRoom(block, at, value);
    at = value === null ? writeInt32(bytes, at, -1) : writers[i]!(bytes, at, value);
  }
  block.length = at;
}

/** Signature, no flags, no extension. */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);

export function writeHeader(block: Block): void {
  block.length += HEADER.copy(block.bytes, block.length);
}

export function writeTrailer(block: Block): void {
  block.length = writeInt16(makeRoom(block, block.length, null), block.length, -1);
}
