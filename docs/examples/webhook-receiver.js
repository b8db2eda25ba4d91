// A webhook receiver that believes only what is signed (Standard Webhooks), with Node alone:
//   PORT=3000 WEBHOOK_SECRET=whsec_… node webhook-receiver.js
// The same check in other languages: https://www.standardwebhooks.com
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const TOLERANCE_S = 5 * 60;
const LARGEST_BODY = 1024 * 1024;

/** Anything else would be an empty key, or hardly one, and everybody could sign. */
function keyOf(secret) {
  if (!/^whsec_[A-Za-z0-9+/]{32,}=*$/.test(secret))
    throw new Error('the secret must be whsec_… as `sps webhook add` shows it');
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}

/** The event of a signed body; throws unless one of the signatures is by our secret and the message is recent. */
export function verify(body, headers, secret, nowMs = Date.now()) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  // Written so that a timestamp that is no number fails too.
  if (!(Math.abs(nowMs / 1000 - Number(timestamp)) <= TOLERANCE_S)) throw new Error('too old, or not of this time');
  // Over the bytes as they came: parsing and writing them again would change them.
  const ours = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
  // Several, while a secret is being rotated.
  const isOurs = signatures.split(' ').some((entry) => {
    const [version, signature = ''] = entry.split(',');
    const theirs = Buffer.from(signature, 'base64');
    return version === 'v1' && theirs.length === ours.length && timingSafeEqual(theirs, ours);
  });
  if (!isOurs) throw new Error('no signature fits');
  return JSON.parse(body);
}

/** `onEvent` is told each event once; what it throws is answered 500, and the service sends it again. */
export function createReceiver({ secret, onEvent }) {
  // Delivery is at least once, so what came already is known by its id. With several receivers: a unique column instead.
  const told = new Map();
  // Before it listens.
  keyOf(secret);

  async function receive(request) {
    const chunks = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      if (size > LARGEST_BODY) return 413;
      chunks.push(chunk);
    }
    let event;
    try {
      event = verify(Buffer.concat(chunks), request.headers, secret);
    } catch {
      return 401;
    }
    const id = request.headers['webhook-id'];
    // It may come again while it is still being worked on.
    if (!told.has(id)) {
      const telling = (async () => onEvent(event, id))();
      told.set(id, telling);
      telling.catch(() => told.delete(id));
    }
    await told.get(id);
    return 200;
  }

  return createServer((request, response) => {
    receive(request)
      .catch(() => 500)
      .then((status) => response.writeHead(status).end());
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const secret = process.env.WEBHOOK_SECRET ?? '';
  // The test event is of no profile; a profile may have no customer user id.
  const print = ({ event_type, customer_user_id }, id) =>
    process.stdout.write(`${event_type} ${customer_user_id ?? '-'} ${id}\n`);
  createReceiver({ secret, onEvent: print }).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', function () {
    process.stdout.write(`listening on ${this.address().port}\n`);
  });
}
