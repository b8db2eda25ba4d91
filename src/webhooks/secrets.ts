// The only place that creates an endpoint's secrets and converts them between plain text and what its row stores, which
// is encrypted if there is a key.
import { randomBytes } from 'node:crypto';
import { type SealingKeys, seal, unseal } from './sealing.ts';
import { SECRET_PREFIX } from './signature.ts';

const SECRET_BYTES = 32;

export interface SecretColumns {
  secret: string;
  previous_secret: string | null;
  previous_secret_until: string | null;
  authorization_value: string | null;
}

export interface Secrets {
  /** The secrets that sign now, the current one first. */
  signing: string[];
  authorization: string | null;
}

/** Creates a signing secret. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Returns the secrets of an endpoint at `now`; throws a SealedError if we do not have the key. */
export function readSecrets(row: SecretColumns, keys: SealingKeys, now: Date): Secrets {
  const { secret, previous_secret, previous_secret_until, authorization_value } = row;
  const isRotating =
    previous_secret !== null && previous_secret_until !== null && new Date(previous_secret_until) > now;
  return {
    signing: [secret, ...(isRotating ? [previous_secret] : [])].map((one) => unseal(one, keys)),
    authorization: authorization_value === null ? null : unseal(authorization_value, keys),
  };
}

/** Lists the secret values that a row stores, sealed or in clear. */
export function storedValues({
  secret,
  previous_secret,
  authorization_value,
}: Omit<SecretColumns, 'previous_secret_until'>): string[] {
  return [secret, previous_secret, authorization_value].filter((value) => value !== null);
}

/** Returns what to store for a secret or an Authorization value. */
export function toStored<T extends string | null>(value: T, { SPS_ENCRYPTION_KEY }: SealingKeys): T {
  return value === null || !SPS_ENCRYPTION_KEY ? value : (seal(value, SPS_ENCRYPTION_KEY) as T);
}
