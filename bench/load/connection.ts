// A keep-alive connection that carries one request at a time. It uses a plain socket and parses as little as the
// answers need, so that the load generator takes little of the cores it shares with the service.
import { once } from 'node:events';
import { connect } from 'node:net';

export interface Target {
  host: string;
  port: number;
}

export interface Answer {
  status: number;
  /** From sending the request to receiving the last byte. */
  ms: number;
  /** Headers and body, one character per byte. */
  bytes: string;
}

export interface Connection {
  /** Sends a request, given as it goes over the wire; rejects if the connection breaks. */
  send: (request: string) => Promise<Answer>;
  close: () => void;
}

const READ_BUFFER_BYTES = 65_536;
const HEADER_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Returns the length of the answer at the beginning of `bytes`; undefined while its headers are incomplete. */
function lengthOfAnswer(bytes: string): number | undefined {
  const end = bytes.indexOf(HEADER_END);
  if (end < 0) return undefined;
  const length = LENGTH.exec(bytes.slice(0, end + 2))?.[1];
  if (length === undefined) throw new Error(`an answer without content-length: ${bytes.slice(0, 200)}`);
  return end + HEADER_END.length + Number(length);
}

/** Returns the text of an answer's body. */
export function bodyOf({ bytes }: Answer): string {
  return Buffer.from(bytes.slice(bytes.indexOf(HEADER_END) + HEADER_END.length), 'latin1').toString();
}

export async function openConnection({ host, port }: Target): Promise<Connection> {
  let bytes = '';
  let length: number | undefined;
  let sentAt = 0;
  let inFlight: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  // One buffer for all that arrives, and no stream: this saves a fifth of what a request costs here.
  const buffer = Buffer.alloc(READ_BUFFER_BYTES);
  const socket = connect({ host, port, noDelay: true, onread: { buffer, callback: receive } });
  await once(socket, 'connect');

  function finish(): void {
    const answer = { status: Number(bytes.slice(9, 12)), ms: performance.now() - sentAt, bytes };
    bytes = '';
    length = undefined;
    inFlight?.resolve(answer);
  }

  function fail(error: Error): void {
    socket.destroy();
    inFlight?.reject(error);
  }

  /** Returns true, which means that reading goes on. */
  function receive(size: number): true {
    bytes += buffer.toString('latin1', 0, size);
    try {
      length ??= lengthOfAnswer(bytes);
    } catch (error) {
      fail(error as Error);
    }
    if (length !== undefined && bytes.length >= length) finish();
    return true;
  }

  // Reads on, so that the end of the other side is noticed.
  socket.resume();
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the connection was closed')));

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) throw new Error('the connection is closed');
        inFlight = { resolve, reject };
        sentAt = performance.now();
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}
