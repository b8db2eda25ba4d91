// Webhook secrets at rest: encrypted if there is a key, re-encrypted by command; without the key nothing is sent.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Deps } from '../../src/deps.ts';
import { startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { addWebhook, changeWebhook } from '../../src/webhooks/endpoint-settings.ts';
import { rotateWebhookSecret, testWebhook } from '../../src/webhooks/endpoints.ts';
import { rotateEncryptionKey } from '../../src/webhooks/reseal.ts';
import { keyIdOf, SealedError, seal, unseal } from '../../src/webhooks/sealing.ts';
import type { Receiver } from './receiver.ts';
import { createWorld, type World } from './world.ts';

const [oldKey, newKey, wrongKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const keys = (current?: Buffer, previous?: Buffer) => ({
  SPS_ENCRYPTION_KEY: current,
  SPS_ENCRYPTION_KEY_PREVIOUS: previous,
});

describe('a sealed text', () => {
  it('names its key, is never the same twice and opens with that key, current or previous', () => {
    const sealed = seal('whsec_abc', oldKey);
    expect(sealed).toMatch(new RegExp(`^sealed:1:${keyIdOf(oldKey)}:`));
    expect(sealed).not.toContain('whsec_');
    expect(seal('whsec_abc', oldKey)).not.toBe(sealed);
    expect(unseal(sealed, keys(oldKey))).toBe('whsec_abc');
    expect(unseal(sealed, keys(newKey, oldKey))).toBe('whsec_abc');
  });

  it('does not open without its key, or if a bit of it was changed or its end is missing', () => {
    const sealed = seal('whsec_abc', oldKey);
    expect(() => unseal(sealed, keys())).toThrow(SealedError);
    expect(() => unseal(sealed, keys(wrongKey))).toThrow(/encrypted with the key [0-9a-f]{8}/);
    const [head = '', base64 = ''] = sealed.split(/:(?=[^:]*$)/);
    const bytes = Buffer.from(base64, 'base64');
    for (const at of [0, 12, 28, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(() => unseal(`${head}:${changed.toString('base64')}`, keys(oldKey))).toThrow(/but altered since/);
    }
    for (const length of [1, 12, 27, 28, bytes.length - 1]) {
      const cut = `${head}:${bytes.subarray(0, length).toString('base64')}`;
      expect(() => unseal(cut, keys(oldKey))).toThrow(SealedError);
    }
  });

  it('is distinguished from one in clear', () => {
    expect(unseal('whsec_abc', keys(oldKey))).toBe('whsec_abc');
  });
});

describe('a service', () => {
  let world: World;
  let receiver: Receiver;
  const lines: string[] = [];
  beforeAll(async () => {
    world = await createWorld();
    await world.addProfile('ann');
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    await world.service.database.db.deleteFrom('webhook_delivery').execute();
    await world.service.database.db.deleteFrom('webhook').execute();
    receiver = await world.receive();
    lines.length = 0;
  });

  function withKeys(current?: Buffer, previous?: Buffer): Deps {
    const log = { ...world.service.deps.log, info() {}, warn() {}, debug() {} } as unknown as Deps['log'];
    log.error = ((details: object, text: string) => lines.push(JSON.stringify({ ...details, text }))) as never;
    return { ...world.service.deps, log, config: { ...world.service.deps.config, ...keys(current, previous) } };
  }

  const add = (deps: Deps, authorization?: string) =>
    addWebhook(deps, {
      appId: world.service.appId,
      url: receiver.url,
      verify: false,
      ...(authorization && { authorization }),
    });

  const readStored = () =>
    world.service.database.db
      .selectFrom('webhook')
      .select(['secret', 'previous_secret', 'authorization_value'])
      .executeTakeFirstOrThrow();

  async function deliver(deps: Deps, work: () => Promise<void>): Promise<void> {
    const connectionString = world.service.database.url;
    const dispatcher = startDispatcher({ ...deps, connectionString }, { pollMs: 20, deadlineMs: 500 });
    try {
      await work();
    } finally {
      await dispatcher.stop();
    }
  }

  function expectDelivered(secret: string, authorization: string): Promise<void> {
    return vi.waitFor(() => {
      const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
      expect(headers).toMatchObject({ authorization });
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }, 5_000);
  }

  it('with a key stores neither secret nor Authorization value in clear, and delivers with them', async () => {
    const deps = withKeys(oldKey);
    const { webhook_id, secret } = await add(deps, 'Bearer hidden');
    const rotated = await rotateWebhookSecret(deps, webhook_id);
    const stored = JSON.stringify(await readStored());
    for (const text of [secret, rotated.secret, 'hidden']) expect(stored).not.toContain(text);
    expect(stored.match(/sealed:1:/g)).toHaveLength(3);
    await world.grant('ann');
    await deliver(deps, async () => {
      await expectDelivered(secret, 'Bearer hidden');
      await expectDelivered(rotated.secret, 'Bearer hidden');
    });
  });

  it('stores nothing in clear next to encrypted secrets when the key is missing', async () => {
    const { webhook_id } = await add(withKeys(oldKey));
    const before = await readStored();
    await expect(rotateWebhookSecret(withKeys(), webhook_id)).rejects.toThrow(/SPS_ENCRYPTION_KEY/);
    await expect(add(withKeys())).rejects.toThrow(/SPS_ENCRYPTION_KEY/);
    const change = { webhookId: webhook_id, authorization: 'Bearer clear', verify: false };
    await expect(changeWebhook(withKeys(), change)).rejects.toThrow(/SPS_ENCRYPTION_KEY/);
    expect(await readStored()).toEqual(before);
    expect(await world.service.database.db.selectFrom('webhook').select('webhook_id').execute()).toHaveLength(1);
  });

  it('stores nothing that no service could read when it has another key', async () => {
    const { webhook_id } = await add(withKeys(oldKey));
    const before = await readStored();
    const refusal = `The secrets of the webhook ${webhook_id} are encrypted with the key ${keyIdOf(oldKey)}, which is neither`;
    await expect(rotateWebhookSecret(withKeys(wrongKey), webhook_id)).rejects.toThrow(refusal);
    await expect(add(withKeys(wrongKey, newKey))).rejects.toThrow(refusal);
    const change = { webhookId: webhook_id, authorization: 'Bearer lost', verify: false };
    await expect(changeWebhook(withKeys(wrongKey), change)).rejects.toThrow(refusal);
    expect(await readStored()).toEqual(before);
    expect(await world.service.database.db.selectFrom('webhook').select('webhook_id').execute()).toHaveLength(1);
  });

  it('stores with the new key while keys are exchanged, or with the old one until all secrets are sealed again', async () => {
    await add(withKeys());
    await add(withKeys(oldKey));
    await add(withKeys(newKey, oldKey));
    await expect(add(withKeys(newKey))).rejects.toThrow(`the key ${keyIdOf(oldKey)}`);
    await expect(add(withKeys(oldKey))).rejects.toThrow(`the key ${keyIdOf(newKey)}`);
    await rotateEncryptionKey(withKeys(newKey, oldKey));
    await add(withKeys(newKey));
    await expect(add(withKeys(oldKey))).rejects.toThrow(`the key ${keyIdOf(newKey)}`);
  });

  it('without the key sends nothing, says so and counts no failure; with it the same delivery goes out', async () => {
    const { webhook_id, secret } = await add(withKeys(oldKey), 'Bearer hidden');
    await world.grant('ann');
    const { db } = world.service.database;
    const waiting = () => db.selectFrom('webhook_delivery').selectAll().executeTakeFirstOrThrow();
    await deliver(withKeys(wrongKey), async () => {
      await vi.waitFor(async () => expect((await waiting()).last_error).toContain(keyIdOf(oldKey)), 5_000);
    });
    expect(await waiting()).toMatchObject({ state: 'pending', attempts: 0, claim_id: null });
    expect(receiver.received).toEqual([]);
    expect(lines).toEqual([expect.stringContaining('nothing is sent to this endpoint')]);
    expect(lines[0]).toContain(webhook_id);
    await expect(testWebhook(withKeys(), webhook_id)).rejects.toThrow(/SPS_ENCRYPTION_KEY/);
    world.pass(61);
    await deliver(withKeys(oldKey), () => expectDelivered(secret, 'Bearer hidden'));
  });

  it('exchanges the key: all secrets are sealed again, including those in clear, and the old key opens nothing any more', async () => {
    const clear = await add(withKeys(), 'Bearer hidden');
    const sealed = await add(withKeys(oldKey));
    expect(await rotateEncryptionKey(withKeys(newKey, oldKey))).toEqual({
      key_id: keyIdOf(newKey),
      webhooks: 2,
      resealed: 2,
    });
    expect(await rotateEncryptionKey(withKeys(newKey))).toMatchObject({ resealed: 0 });
    for (const { webhook_id } of [clear, sealed]) {
      await expect(testWebhook(withKeys(oldKey), webhook_id)).rejects.toThrow(/encrypted with/);
      expect(await testWebhook(withKeys(newKey), webhook_id)).toMatchObject({ status: 200 });
    }
    new Webhook(clear.secret).verify(
      receiver.received[0]?.body ?? '',
      receiver.received[0]?.headers as Record<string, string>,
    );
  });

  it('exchanges nothing if one secret cannot be opened', async () => {
    await add(withKeys());
    await add(withKeys(oldKey));
    const stored = () =>
      world.service.database.db.selectFrom('webhook').select('secret').orderBy('webhook_id').execute();
    const before = await stored();
    await expect(rotateEncryptionKey(withKeys(newKey))).rejects.toThrow(
      /is encrypted with the key [0-9a-f]{8}, which is neither SPS_ENCRYPTION_KEY nor SPS_ENCRYPTION_KEY_PREVIOUS\. No secret was re-encrypted\.$/,
    );
    await expect(rotateEncryptionKey(withKeys())).rejects.toThrow(/Set SPS_ENCRYPTION_KEY/);
    expect(await stored()).toEqual(before);
  });

  it('exchanges nothing if one secret was altered', async () => {
    const { db } = world.service.database;
    await add(withKeys(oldKey));
    const { webhook_id } = await add(withKeys(oldKey));
    await sql`update webhook set secret = left(secret, -8) || 'AAAAAAAA' where webhook_id = ${webhook_id}`.execute(db);
    const stored = () => db.selectFrom('webhook').select('secret').orderBy('webhook_id').execute();
    const before = await stored();
    await expect(rotateEncryptionKey(withKeys(newKey, oldKey))).rejects.toThrow(
      `A secret of the webhook ${webhook_id} is encrypted with the key ${keyIdOf(oldKey)}, but altered since. No secret was re-encrypted.`,
    );
    expect(await stored()).toEqual(before);
  });
});
