// Resolves the host names of webhooks. c-ares is tried first: dns.lookup holds a thread of a pool of four while it
// waits, so a few names whose servers hang would delay everything. dns.lookup is used only if DNS does not know the name
// or name servers report a failure: the system may know it from elsewhere (a hosts file).
import { promises as dns } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';

interface Address {
  address: string;
  family: number;
}

/** Resolves a name to its addresses; rejects if it has none. Tests replace it. */
export type Resolve = (hostname: string) => Promise<Address[]>;

const CODES_TO_ASK_SYSTEM = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ESERVFAIL']);

/**
 * How long to wait for the other address family once one has answered. Some name servers never answer IPv6 queries.
 * Such a query fails after 6 s, or 12 s with two servers, which is more time than a delivery has.
 */
const OTHER_FAMILY_MS = 1_000;

/** A resolver keeps the name servers it was created with. If none answers, the next name goes to a new resolver. */
export function createResolve(createResolver: () => Pick<dns.Resolver, 'resolve4' | 'resolve6'>): Resolve {
  let current = createResolver();
  return async (hostname) => {
    const resolver = current;
    const found: Address[] = [];
    const add = (family: number) => (addresses: readonly string[]) =>
      void found.push(...addresses.map((address) => ({ address, family })));
    const queries = [resolver.resolve4(hostname).then(add(4)), resolver.resolve6(hostname).then(add(6))];
    const ended = Promise.allSettled(queries);
    const waited = Promise.any(queries).then(
      () => sleep(OTHER_FAMILY_MS, undefined, { ref: false }),
      () => undefined,
    );
    await Promise.race([ended, waited]);
    if (found.length > 0) return found.toSorted((one, other) => one.family - other.family);
    const failure = (await ended).find((result) => result.status === 'rejected')?.reason as NodeJS.ErrnoException;
    if (failure.code === 'ETIMEOUT' && resolver === current) current = createResolver();
    if (!CODES_TO_ASK_SYSTEM.has(failure.code ?? '')) throw failure;
    return dns.lookup(hostname, { all: true, verbatim: true });
  };
}

export const resolveName = createResolve(() => new dns.Resolver({ timeout: 2_000, tries: 2 }));
