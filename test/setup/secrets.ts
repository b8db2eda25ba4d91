// No log of any service or process under test may contain a key or a secret. Every test run searches for them.
import type { TestDatabase } from './database.ts';

const SECRET_PATTERN = /(public|secret)_live_\w{8}\.\w{32}|whsec_[\w+/]{16}/;
/** Tests use shorter secrets too, but those may be part of any word. */
const MIN_LENGTH = 12;

/** Throws if a line contains one of `secrets`, or what looks like a key or a webhook's secret. */
export function expectNoSecrets(lines: readonly string[], secrets: readonly string[] = []): void {
  const sought = [...new Set(secrets)].filter(({ length }) => length >= MIN_LENGTH);
  const found = lines.find((line) => SECRET_PATTERN.test(line) || sought.some((secret) => line.includes(secret)));
  if (found !== undefined) throw new Error(`the log contains a key or a secret: ${found}`);
}

/** Returns the part of a key that only its holder knows. */
export function secretPart(key: string): string {
  return key.split('.')[1] ?? '';
}

/** Lists the secrets of all webhooks; none if a test has left the table unreadable. */
export async function listWebhookSecrets({ db }: TestDatabase): Promise<string[]> {
  const columns = ['secret', 'previous_secret', 'authorization_value'] as const;
  const rows = await db
    .selectFrom('webhook')
    .select(columns)
    .execute()
    .catch(() => []);
  return rows.flatMap((row) => columns.flatMap((column) => row[column] ?? []));
}
