// Helpers shared by the tests of the profile operations.
import type { ServiceResponse, TestService } from '../setup/service.ts';

export const PROFILE = '/api/v2/server-side-api/profile/';

export interface Named {
  /** service-customer-user-id */
  customer?: string;
  /** service-profile-id */
  profile?: string;
}

export function headersOf({ customer, profile }: Named): Record<string, string> {
  return {
    ...(customer !== undefined && { 'service-customer-user-id': customer }),
    ...(profile !== undefined && { 'service-profile-id': profile }),
  };
}

export function createProfile(service: TestService, named: Named, body: unknown = {}): Promise<ServiceResponse> {
  return service.call('POST', PROFILE, { key: service.secretKey, headers: headersOf(named), body });
}

export function updateProfile(service: TestService, named: Named, body: unknown = {}): Promise<ServiceResponse> {
  return service.call('PATCH', PROFILE, { key: service.secretKey, headers: headersOf(named), body });
}

export function readProfile(service: TestService, named: Named): Promise<ServiceResponse> {
  return service.call('GET', PROFILE, { key: service.secretKey, headers: headersOf(named) });
}

export function deleteProfile(
  service: Pick<TestService, 'call' | 'secretKey'>,
  named: Named,
): Promise<ServiceResponse> {
  return service.call('DELETE', PROFILE, { key: service.secretKey, headers: headersOf(named) });
}

/** Returns what is stored about a profile and its install, even if the profile is deleted. */
export async function storedProfile({ database: { db } }: TestService, profileId: string) {
  const row = await db.selectFrom('profile').selectAll().where('profile_id', '=', profileId).executeTakeFirstOrThrow();
  const install = await db
    .selectFrom('fact_install')
    .innerJoin('dim_country', 'dim_country.country_key', 'fact_install.country_key')
    .innerJoin('dim_store', 'dim_store.store_key', 'fact_install.store_key')
    .select(['installed_at', 'installed_day', 'country', 'store', 'attribution_key'])
    .where('profile_id', '=', profileId)
    .executeTakeFirst();
  return { row, install };
}
