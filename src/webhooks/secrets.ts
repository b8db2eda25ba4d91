// The only place where the secrets of an endpoint are made, and read from and written to its row; encrypted if there is a key.
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
  /** That sign now: the current one first. */
  signing: string[];
  authorization: string | null;
}

/** A new signing secret. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The secrets of an endpoint at `now`; throws a SealedError where the key is not ours. */
export function readSecrets(row: SecretColumns, keys: SealingKeys, now: Date): Secrets {
  const { secret, previous_secret, previous_secret_until, authorization_value } = row;
  const isRotating =
    previous_secret !== null && previous_secret_until !== null && new Date(previous_secret_until) > now;
  return {
    signing: [secret, ...(isRotating ? [previous_secret] : [])].map((one) => unseal(one, keys)),
    authorization: authorization_value === null ? null : unseal(authorization_value, keys),
  };
}

/** Of a row: what it keeps of secrets, sealed or in clear. */
export function storedValues({
  secret,
  previous_secret,
  authorization_value,
}: Omit<SecretColumns, 'previous_secret_until'>): string[] {
  return [secret, previous_secret, authorization_value].filter((value) => value !== null);
}

/** What is stored of a secret or an Authorization value. */
export function toStored<T extends string | null>(value: T, { SPS_ENCRYPTION_KEY }: SealingKeys): T {
  return value === null || !SPS_ENCRYPTION_KEY ? value : (seal(value, SPS_ENCRYPTION_KEY) as T);
}
