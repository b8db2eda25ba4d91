import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { newSecret } from '../../src/webhooks/secrets.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';

const body = '{"event_type":"access_level_updated","name":"Zoë 🎈"}';
const timestampS = Math.floor(Date.now() / 1000);

it('a signature is accepted by the reference verifier', () => {
  const secret = newSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const headers = signatureHeaders({ id: 'e1', timestampS, body, secrets: [secret] });
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
});

it('a signature is accepted under either secret while one is being rotated', () => {
  const [current, previous] = [newSecret(), newSecret()];
  const headers = signatureHeaders({ id: 'e1', timestampS, body, secrets: [current, previous] });
  for (const secret of [current, previous]) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
});

it('a signature is refused if the body, the id or the secret differs', () => {
  const secret = newSecret();
  const headers = signatureHeaders({ id: 'e1', timestampS, body, secrets: [secret] });
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'e2' })).toThrow();
  expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
});
