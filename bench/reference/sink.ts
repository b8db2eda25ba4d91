// A receiver of webhooks that answers at once. GET /received tells how many came and when the last one did; GET /bodies has some of them.
import { createServer } from 'node:http';

let count = 0;
let lastAt = 0;
const bodies: string[] = [];
const KEPT = 100;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(request.url === '/bodies' ? bodies : { count, lastAt }));
    return;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    count++;
    lastAt = Date.now();
    if (bodies.length < KEPT) bodies.push(Buffer.concat(parts).toString());
    response.writeHead(200, { 'content-length': 0 }).end();
  });
});

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready: http://127.0.0.1:${(server.address() as { port: number }).port}\n`);
});
