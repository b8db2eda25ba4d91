// Rotates SPS_ENCRYPTION_KEY: opens every stored secret with the key that sealed it and seals it with the current one.
// It is all or nothing. Services that have both keys can read old and new secrets meanwhile.
import { inTransaction } from '../db/transactions.ts';
import type { Deps } from '../deps.ts';
import { OperatorError } from '../operator-error.ts';
import { listSecretsForUpdate, updateSecrets } from './endpoint-queries.ts';
import { keyIdOf, SealedError, type SealingKeys, seal, sealedWith, unseal } from './sealing.ts';
import { storedValues } from './secrets.ts';

export interface Resealed {
  key_id: string;
  /** All webhooks, and those with a secret that was not sealed with the current key. */
  webhooks: number;
  resealed: number;
}

function resealOne<T extends string | null>(stored: T, keys: SealingKeys, key: Buffer): T {
  return stored === null || sealedWith(stored) === keyIdOf(key) ? stored : (seal(unseal(stored, keys), key) as T);
}

/** Seals every secret with SPS_ENCRYPTION_KEY, including those stored in clear. */
export async function rotateEncryptionKey({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<Resealed> {
  const key = config.SPS_ENCRYPTION_KEY;
  if (!key)
    throw new OperatorError(
      'Set SPS_ENCRYPTION_KEY to the new key, and SPS_ENCRYPTION_KEY_PREVIOUS to the old one if there is one.',
    );
  return inTransaction(db, async (trx) => {
    const rows = await listSecretsForUpdate(trx);
    let resealed = 0;
    for (const row of rows) {
      if (storedValues(row).every((stored) => sealedWith(stored) === keyIdOf(key))) continue;
      try {
        await updateSecrets(trx, row.webhook_id, {
          secret: resealOne(row.secret, config, key),
          previous_secret: resealOne(row.previous_secret, config, key),
          authorization_value: resealOne(row.authorization_value, config, key),
        });
        resealed++;
      } catch (error) {
        if (!(error instanceof SealedError)) throw error;
        throw new OperatorError(
          `A secret of the webhook ${row.webhook_id} is ${error.message}. No secret was re-encrypted.`,
        );
      }
    }
    return { key_id: keyIdOf(key), webhooks: rows.length, resealed };
  });
}
