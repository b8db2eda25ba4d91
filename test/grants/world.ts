// What the tests of grant access level share.
import type { Answer, CallOptions, TestService } from '../setup/service.ts';

export const GRANT = '/api/v2/server-side-api/purchase/profile/grant/access-level/';

export const REVOKE = '/api/v2/server-side-api/purchase/profile/revoke/access-level/';

export const ANNA = { 'service-customer-user-id': 'anna' };

/** Grants to the profile that the headers name. */
export function grant(
  service: TestService,
  body: unknown,
  headers: Record<string, string> = ANNA,
  options: CallOptions = {},
): Promise<Answer> {
  return service.call('POST', GRANT, { key: service.secretKey, body, headers, ...options });
}

/** The bytes of a grant to anna, for `openRaw`. */
export function rawGrant({ secretKey }: TestService): string {
  const body = JSON.stringify({ access_level_id: 'premium' });
  const head = [
    `POST ${GRANT} HTTP/1.1`,
    'Host: x',
    `Authorization: Api-Key ${secretKey}`,
    'Content-Type: application/json',
    'service-customer-user-id: anna',
    `Content-Length: ${body.length}`,
  ];
  return [...head, '', body].join('\r\n');
}

/** Revokes from the profile that the headers name. */
export function revoke(
  service: TestService,
  body: unknown,
  headers: Record<string, string> = ANNA,
  options: CallOptions = {},
): Promise<Answer> {
  return service.call('POST', REVOKE, { key: service.secretKey, body, headers, ...options });
}

/** A header value whose bytes are UTF-8. */
export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
