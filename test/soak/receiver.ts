// A receiver that checks signatures, remembers only ids, and fails now and then with an error, a broken connection or a
// pause.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { createRandom } from '../../src/demo/random.ts';

const FAILURE_SHARE = 0.03;
/** Per event; with more failures it would still be waiting for minutes at the end. */
const MAX_FAILURES = 2;

export interface SoakReceiver {
  url: string;
  /** Ids that were answered with 2xx, and how often. */
  taken: ReadonlyMap<string, number>;
  failures: () => number;
  forged: () => number;
  trust: (secret: string) => void;
  close: () => Promise<void>;
}

export async function startReceiver(seed: number): Promise<SoakReceiver> {
  const random = createRandom(seed);
  const taken = new Map<string, number>();
  const failed = new Map<string, number>();
  const counts = { failures: 0, forged: 0 };
  let webhook: Webhook;

  function fail(response: ServerResponse): void {
    if (random.chance(0.5)) response.writeHead(500).end();
    else response.destroy();
  }

  function receive(body: string, headers: Record<string, string>, response: ServerResponse): void {
    const id = headers['webhook-id'] as string;
    try {
      webhook.verify(body, headers);
    } catch {
      counts.forged += 1;
    }
    const before = failed.get(id) ?? 0;
    if (before < MAX_FAILURES && random.chance(FAILURE_SHARE)) {
      failed.set(id, before + 1);
      counts.failures += 1;
      fail(response);
      return;
    }
    taken.set(id, (taken.get(id) ?? 0) + 1);
    setTimeout(() => response.writeHead(204).end(), random.chance(0.01) ? 1_000 : 0);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () =>
      receive(Buffer.concat(chunks).toString(), request.headers as Record<string, string>, response),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    taken,
    failures: () => counts.failures,
    forged: () => counts.forged,
    trust: (secret) => {
      webhook = new Webhook(secret);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
