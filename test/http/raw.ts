// Raw bytes on a socket, for requests that no HTTP client would send.
import { connect } from 'node:net';

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  json: any;
}

function parseOne(text: string): { response: RawResponse; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
  if (text.length < bodyEnd) return undefined;
  const body = text.slice(end + 4, bodyEnd);
  const response = {
    status: Number(statusLine.split(' ')[1]),
    headers,
    json: body === '' ? undefined : JSON.parse(body),
  };
  return { response, rest: text.slice(bodyEnd) };
}

/** Returns the header lines of a request that sends JSON, except those that frame its body. */
export function headOfPost(path: string, key: string): string[] {
  return [`POST ${path} HTTP/1.1`, 'Host: x', `Authorization: Api-Key ${key}`, 'Content-Type: application/json'];
}

/** Returns the bytes of such a request with its body. */
export function rawPost(path: string, key: string, body: string, ...headers: string[]): string {
  return [...headOfPost(path, key), ...headers, `Content-Length: ${body.length}`, '', body].join('\r\n');
}

export interface RawConnection {
  send: (bytes: string | Buffer) => void;
  /** Returns the next response; rejects if the connection ends before it. */
  next: () => Promise<RawResponse>;
  /** Settles when the server has closed the connection. */
  ended: Promise<void>;
  /** Closes our sending side; responses still arrive. */
  end: () => void;
  close: () => void;
}

export function openRaw(port: number): RawConnection {
  const socket = connect({ port, host: '127.0.0.1' });
  let text = '';
  let wake = () => {};
  let isOver = false;
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => {});
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isOver = true;
      wake();
      resolve();
    });
  });
  return {
    send: (bytes) => void socket.write(bytes),
    async next() {
      for (;;) {
        const parsed = parseOne(text);
        if (parsed) {
          text = parsed.rest;
          return parsed.response;
        }
        if (isOver) throw new Error(`the connection ended without a response: ${text}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    ended,
    end: () => void socket.end(),
    close: () => void socket.destroy(),
  };
}

/** Sends the bytes on a connection of their own and returns the first response. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawResponse> {
  const connection = openRaw(port);
  connection.send(bytes);
  try {
    return await connection.next();
  } finally {
    connection.close();
  }
}
