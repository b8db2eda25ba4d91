// Encrypts secrets at rest: AES-256-GCM under SPS_ENCRYPTION_KEY. A sealed text names its key, so keys can be rotated.
// Form: `sealed:1:` key id `:` base64 of nonce (12 bytes), tag (16), ciphertext.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** 32 bytes each. The current key seals. The previous one opens the texts it sealed until they are sealed again. */
export interface SealingKeys {
  SPS_ENCRYPTION_KEY: Buffer | undefined;
  SPS_ENCRYPTION_KEY_PREVIOUS: Buffer | undefined;
}

/** Thrown for a sealed text that cannot be opened. The message is for the operator and holds no secret. */
export class SealedError extends Error {
  override name = 'SealedError';
}

const FORM = /^sealed:1:([0-9a-f]{8}):([A-Za-z0-9+/]+=*)$/;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns an id that tells keys apart and reveals nothing about them. */
export function keyIdOf(key: Buffer): string {
  return createHash('sha256').update('sps sealing key id').update(key).digest('hex').slice(0, 8);
}

/** Returns the id of the key that sealed a stored text, or undefined if the text is not sealed. */
export function sealedWith(stored: string): string | undefined {
  return FORM.exec(stored)?.[1];
}

/** Seals a text with AES-256-GCM under a random nonce, in the form above (docs/decisions/0013). */
export function seal(text: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `sealed:1:${keyIdOf(key)}:${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64')}`;
}

/** Returns the key with this id; throws a SealedError if neither key has it. */
export function findKey(keyId: string, { SPS_ENCRYPTION_KEY, SPS_ENCRYPTION_KEY_PREVIOUS }: SealingKeys): Buffer {
  const key = [SPS_ENCRYPTION_KEY, SPS_ENCRYPTION_KEY_PREVIOUS].find((one) => one && keyIdOf(one) === keyId);
  if (key) return key;
  throw new SealedError(
    `encrypted with the key ${keyId}, which is neither SPS_ENCRYPTION_KEY nor SPS_ENCRYPTION_KEY_PREVIOUS`,
  );
}

/** Returns the plain text of a stored text, sealed or not; throws a SealedError if it cannot be opened. */
export function unseal(stored: string, keys: SealingKeys): string {
  const [, keyId = '', base64 = ''] = FORM.exec(stored) ?? [];
  if (keyId === '') return stored;
  const key = findKey(keyId, keys);
  const bytes = Buffer.from(base64, 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new SealedError(`encrypted with the key ${keyId}, but altered since`);
  }
}
