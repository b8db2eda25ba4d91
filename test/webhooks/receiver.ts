// A webhook receiver on loopback that keeps what it gets and answers as the test wants.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findEventFault } from '../setup/events.ts';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** performance.now() */
  at: number;
}

export type Behaviour = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** The parsed bodies. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  events: () => any[];
  behave: (behaviour: Behaviour) => void;
  /** Fails if an event arrived that does not match the API reference. */
  close: () => Promise<void>;
}

export function answering(status: number, text = '', headers: Record<string, string> = {}): Behaviour {
  return (response) => {
    response.writeHead(status, headers).end(text);
  };
}

/** Accepts the request and never answers. */
export const hanging: Behaviour = () => {};

export const dropping: Behaviour = (response) => {
  response.destroy();
};

export async function startReceiver(first: Behaviour = answering(200, 'ok')): Promise<Receiver> {
  let behaviour = first;
  const received: Received[] = [];
  const faults: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = { path: request.url ?? '', headers: request.headers, body, at: performance.now() };
      received.push(one);
      faults.push(...[findEventFault(JSON.parse(body)) ?? []].flat());
      behaviour(response, one, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    events: () => received.map(({ body }) => JSON.parse(body)),
    behave: (next) => {
      behaviour = next;
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (faults.length > 0) throw new Error(`delivered events that are not as documented: ${faults[0]}`);
    },
  };
}
