// The only place where the secrets of an endpoint are read from and written to its row.

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

/** The secrets of an endpoint at `now`. */
export function readSecrets(row: SecretColumns, now: Date): Secrets {
  const { previous_secret, previous_secret_until } = row;
  const isRotating =
    previous_secret !== null && previous_secret_until !== null && new Date(previous_secret_until) > now;
  return {
    signing: isRotating ? [row.secret, previous_secret] : [row.secret],
    authorization: row.authorization_value,
  };
}

/** What is stored of a secret or an Authorization value. */
export function toStored<T extends string | null>(value: T): T {
  return value;
}
