// Helpers shared by the tests of grants.
import { rawPost } from '../http/raw.ts';
import type { CallOptions, ServiceResponse, TestService } from '../setup/service.ts';

export const GRANT = '/api/v2/server-side-api/purchase/profile/grant/access-level/';

export const REVOKE = '/api/v2/server-side-api/purchase/profile/revoke/access-level/';

export const ANNA = { 'service-customer-user-id': 'anna' };

/** Grants to the profile that the headers name. */
export function grant(
  service: TestService,
  body: unknown,
  headers: Record<string, string> = ANNA,
  options: CallOptions = {},
): Promise<ServiceResponse> {
  return service.call('POST', GRANT, { key: service.secretKey, body, headers, ...options });
}

/** Returns the bytes of a grant to anna, for `openRaw`. */
export function rawGrant({ secretKey }: TestService): string {
  return rawPost(GRANT, secretKey, JSON.stringify({ access_level_id: 'premium' }), 'service-customer-user-id: anna');
}

/** Revokes from the profile that the headers name. */
export function revoke(
  service: TestService,
  body: unknown,
  headers: Record<string, string> = ANNA,
  options: CallOptions = {},
): Promise<ServiceResponse> {
  return service.call('POST', REVOKE, { key: service.secretKey, body, headers, ...options });
}

/** Encodes a header value so that its bytes are UTF-8. */
export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
