// A receiver of webhooks that answers at once. GET /received tells how many came and when the last one did, with ?count=N as soon as so many
// have come: who asks again and again takes time from what is measured. GET /bodies has some of them.
import { createServer, type ServerResponse } from 'node:http';

let count = 0;
let lastAt = 0;
const bodies: string[] = [];
const KEPT = 100;
/** Who asked for more than had come. */
let asking: { until: number; response: ServerResponse } | undefined;

function tellReceived(): void {
  if (!asking || count < asking.until) return;
  asking.response.end(JSON.stringify({ count, lastAt }));
  asking = undefined;
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sink');
    if (pathname === '/bodies') {
      response.end(JSON.stringify(bodies));
      return;
    }
    asking = { until: Number(searchParams.get('count')), response };
    tellReceived();
    return;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    count++;
    lastAt = Date.now();
    if (bodies.length < KEPT) bodies.push(Buffer.concat(parts).toString());
    response.writeHead(200, { 'content-length': 0 }).end();
    tellReceived();
  });
});

/** As nginx does. With the 5 s of Node.js every round would begin with 256 new connections, where the load generator's are open. */
server.keepAliveTimeout = 75_000;

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready: http://127.0.0.1:${(server.address() as { port: number }).port}\n`);
});
