// A webhook receiver such as a company would have, on loopback: checks the signature of each event and prints a line
// about it.
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signatureHeaders } from '../webhooks/signature.ts';

const MAX_BYTES = 1_000_000;

/** What is known from the last run. */
export interface LastRun {
  port: number;
  secret?: string;
}

export interface Receiver {
  port: number;
  url: string;
  /**
   * Sets the secret to check signatures with, which is known once the endpoint is added; until then no event counts as
   * genuine.
   */
  trust: (secret: string) => void;
  close: () => Promise<void>;
}

/** Listens on the port of the last run if it is free, and knows its secret, so that deliveries still queued arrive. */
export async function startReceiver(last: LastRun, print: (line: string) => void): Promise<Receiver> {
  let { secret } = last;
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const isGenuine = secret !== undefined && isSigned(request, body, secret);
    response.writeHead(isGenuine ? 204 : 401).end();
    print(isGenuine ? describe(JSON.parse(body)) : 'webhook refused: its signature is wrong');
  }
  // The sender has left midway, or sends without end.
  const server = createServer((request, response) => receive(request, response).catch(() => response.destroy()));
  const listen = async (port: number) => once(server.listen(port, '127.0.0.1'), 'listening');
  await listen(last.port).catch(() => listen(0));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/webhook`,
    trust: (given) => {
      secret = given;
    },
    close: () => {
      server.closeIdleConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('a body without end');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function isSigned({ headers }: IncomingMessage, body: string, secret: string): boolean {
  const id = String(headers['webhook-id']);
  const timestampS = Number(headers['webhook-timestamp']);
  const expected = signatureHeaders({ id, timestampS, body, secrets: [secret] })['webhook-signature'] ?? '';
  // For a day after a rotation there are two signatures: one with the new secret and one with the old.
  const given = String(headers['webhook-signature']).split(' ');
  return given.some((one) => isEqual(Buffer.from(one), Buffer.from(expected)));
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

interface Event {
  event_type: string;
  /** A test event has neither of the two identifiers. */
  customer_user_id?: string | null;
  profile_id?: string;
  event_properties?: { access_level_id?: string; expires_at?: string | null };
}

function describe({ event_type, customer_user_id, profile_id, event_properties }: Event): string {
  const level = event_properties?.access_level_id;
  const end = event_properties?.expires_at ?? 'no end';
  const who = customer_user_id ?? profile_id;
  return `webhook received: ${event_type}${who ? ` of ${who}` : ''}${level ? `, ${level} (${end})` : ''}, signature valid`;
}
