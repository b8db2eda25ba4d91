// A webhook receiver that accepts only signed requests (Standard Webhooks) and needs nothing but Node:
//   PORT=3000 WEBHOOK_SECRET=whsec_… node webhook-receiver.js
// The same check in other languages: https://www.standardwebhooks.com
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const TOLERANCE_S = 5 * 60;
const MAX_BODY_BYTES = 1024 * 1024;

/** Returns the signing key. Any other text would give an empty or very short key, with which anyone could sign. */
function signingKey(secret) {
  if (!/^whsec_[A-Za-z0-9+/]{32,}=*$/.test(secret))
    throw new Error('the secret must be whsec_… as `sps webhook add` shows it');
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}

/** Returns the event in a signed body. Throws unless the message is recent and signed with our secret. */
export function verify(body, headers, secret, nowMs = Date.now()) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  // Negated so that a timestamp that is not a number fails too.
  if (!(Math.abs(nowMs / 1000 - Number(timestamp)) <= TOLERANCE_S)) throw new Error('the timestamp is not recent');
  // Sign the bytes as received: parsing and serialising them again would change them.
  const ours = createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.`).update(body).digest();
  // There are several signatures while a secret is being rotated.
  const isOurs = signatures.split(' ').some((entry) => {
    const [version, signature = ''] = entry.split(',');
    const theirs = Buffer.from(signature, 'base64');
    return version === 'v1' && theirs.length === ours.length && timingSafeEqual(theirs, ours);
  });
  if (!isOurs) throw new Error('no signature matches');
  return JSON.parse(body);
}

/** Returns a server that calls `onEvent` once per event. If that throws, it answers 500 and the event comes again. */
export function createReceiver({ secret, onEvent }) {
  // Delivery is at least once, so remember the ids already seen. With several receivers, use a unique column instead.
  const handled = new Map();
  // Refuse a bad secret before listening.
  signingKey(secret);

  async function receive(request) {
    const chunks = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return 413;
      chunks.push(chunk);
    }
    let event;
    try {
      event = verify(Buffer.concat(chunks), request.headers, secret);
    } catch {
      return 401;
    }
    const id = request.headers['webhook-id'];
    // The same event may arrive again while it is still being handled.
    if (!handled.has(id)) {
      const handling = (async () => onEvent(event, id))();
      handled.set(id, handling);
      handling.catch(() => handled.delete(id));
    }
    await handled.get(id);
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
  // The test event has no profile, and a profile may have no customer user id.
  const print = ({ event_type, customer_user_id }, id) =>
    process.stdout.write(`${event_type} ${customer_user_id ?? '-'} ${id}\n`);
  createReceiver({ secret, onEvent: print }).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', function () {
    process.stdout.write(`listening on ${this.address().port}\n`);
  });
}
