// A receiver of webhooks that answers at once. GET /received returns how many have arrived, and when the last one did.
// With ?count=N it waits until there are N, because polling would take time from what is measured. GET /bodies returns
// the bodies of the first ones.
import { createServer, type ServerResponse } from 'node:http';

let count = 0;
let lastAt = 0;
const bodies: string[] = [];
const MAX_KEPT_BODIES = 100;
/** The request that waits for more webhooks than have arrived. */
let waiting: { until: number; response: ServerResponse } | undefined;

function reportReceived(): void {
  if (!waiting || count < waiting.until) return;
  waiting.response.end(JSON.stringify({ count, lastAt }));
  waiting = undefined;
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sink');
    if (pathname === '/bodies') {
      response.end(JSON.stringify(bodies));
      return;
    }
    waiting = { until: Number(searchParams.get('count')), response };
    reportReceived();
    return;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    count++;
    lastAt = Date.now();
    if (bodies.length < MAX_KEPT_BODIES) bodies.push(Buffer.concat(parts).toString());
    response.writeHead(200, { 'content-length': 0 }).end();
    reportReceived();
  });
});

/**
 * As in nginx. With the 5 s of Node.js, every round would begin with 256 new connections, while the load generator's
 * connections are already open.
 */
server.keepAliveTimeout = 75_000;

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready: http://127.0.0.1:${(server.address() as { port: number }).port}\n`);
});
