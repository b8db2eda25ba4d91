// Which messages the demo's receiver accepts as genuine.
import { afterEach, expect, it } from 'vitest';
import { type LastRun, type Receiver, startReceiver } from '../../src/demo/receiver.ts';
import { newSecret } from '../../src/webhooks/secrets.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';

let receiver: Receiver;
afterEach(() => receiver.close());

async function start(last: LastRun): Promise<void> {
  receiver = await startReceiver(last, () => {});
}

async function post(...secrets: string[]): Promise<number> {
  const body = JSON.stringify({ event_type: 'access_level_updated', profile_id: 'p', customer_user_id: null });
  const headers = signatureHeaders({ id: 'x', timestampS: 1, body, secrets });
  return (await fetch(receiver.url, { method: 'POST', body, headers })).status;
}

it('the receiver accepts nothing before it knows the secret, then what that secret signed, even along with another', async () => {
  const [secret, other] = [newSecret(), newSecret()];
  await start({ port: 0 });
  expect(await post('')).toBe(401);
  expect(await post(secret)).toBe(401);
  receiver.trust(secret);
  expect(await post(secret)).toBe(204);
  expect(await post(other, secret)).toBe(204);
  expect(await post(other)).toBe(401);
});

it('the receiver accepts from the start what the secret of the last run signed', async () => {
  const secret = newSecret();
  await start({ port: 0, secret });
  expect(await post(secret)).toBe(204);
});
