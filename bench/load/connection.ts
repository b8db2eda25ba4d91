// One keep-alive connection that sends a request, waits for the whole answer and sends the next. Plain sockets and as little
// parsing as the answers need, so that the load generator takes little of the cores it shares with the service.
import { connect } from 'node:net';

export interface Target {
  host: string;
  port: number;
}

export interface Handlers {
  /** The next request as it goes over the wire; undefined ends the connection. */
  next: () => string | undefined | Promise<string | undefined>;
  onAnswer: (status: number, ms: number) => void;
}

const HEADER_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Length of the answer at the beginning of `text` (latin1), undefined while its headers are incomplete. */
function lengthOfAnswer(text: string): number | undefined {
  const end = text.indexOf(HEADER_END);
  if (end < 0) return undefined;
  const length = LENGTH.exec(text.slice(0, end + 2))?.[1];
  if (length === undefined) throw new Error(`an answer without content-length: ${text.slice(0, 200)}`);
  return end + HEADER_END.length + Number(length);
}

/** Resolves when `next` has no more requests; rejects when the connection breaks. */
export function runConnection({ host, port }: Target, { next, onAnswer }: Handlers): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    let received = '';
    let sentAt = 0;

    function write(request: string | undefined): void {
      if (request === undefined) {
        socket.destroy();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    }

    function send(): void {
      const request = next();
      if (request instanceof Promise) request.then(write, reject);
      else write(request);
    }

    socket.setEncoding('latin1');
    socket.once('connect', send);
    socket.on('data', (chunk: string) => {
      received = received === '' ? chunk : received + chunk;
      let length: number | undefined;
      try {
        length = lengthOfAnswer(received);
      } catch (error) {
        socket.destroy();
        reject(error);
        return;
      }
      if (length === undefined || received.length < length) return;
      onAnswer(Number(received.slice(9, 12)), performance.now() - sentAt);
      received = '';
      send();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}
