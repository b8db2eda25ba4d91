// Signs messages per the Standard Webhooks specification: HMAC-SHA256 over `id.timestamp.body`, one signature per valid
// secret. Pure.
import { createHmac } from 'node:crypto';

/** A secret is this prefix followed by base64. */
export const SECRET_PREFIX = 'whsec_';

export interface SignedMessage {
  id: string;
  /** Whole seconds since 1970. */
  timestampS: number;
  body: string;
  /** The current secret first; during a rotation the previous one too. */
  secrets: readonly string[];
}

/** Returns the three headers by which a receiver identifies the message and verifies its sender. */
export function signatureHeaders({ id, timestampS, body, secrets }: SignedMessage): Record<string, string> {
  const content = `${id}.${timestampS}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signatures.join(' '),
  };
}
