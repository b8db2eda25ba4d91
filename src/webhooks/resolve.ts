// Names to addresses, for webhooks. c-ares first: dns.lookup holds a thread of a pool of four while it waits, so that a few
// names whose servers hang would delay everybody. lookup is asked only for what DNS does not know (a hosts file).
import { promises as dns } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';

interface Address {
  address: string;
  family: number;
}

/** The outbound network's edge: tests put a resolver of their own here. Rejects when a name has no address. */
export type Resolve = (hostname: string) => Promise<Address[]>;

const NOT_KNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ESERVFAIL']);

/**
 * How long addresses of one family wait for those of the other. Some servers never answer for IPv6, and then asking ends after
 * 6 s, with two servers after 12: more than a delivery has.
 */
const OTHER_FAMILY_MS = 1_000;

/** A resolver has the name servers of when it was made: where none of them answers, the next name is asked of a new one. */
export function createResolve(makeResolver: () => Pick<dns.Resolver, 'resolve4' | 'resolve6'>): Resolve {
  let current = makeResolver();
  return async (hostname) => {
    const resolver = current;
    const found: Address[] = [];
    const add = (family: number) => (addresses: readonly string[]) =>
      void found.push(...addresses.map((address) => ({ address, family })));
    const questions = [resolver.resolve4(hostname).then(add(4)), resolver.resolve6(hostname).then(add(6))];
    const ended = Promise.allSettled(questions);
    const waited = Promise.any(questions).then(
      () => sleep(OTHER_FAMILY_MS, undefined, { ref: false }),
      () => undefined,
    );
    await Promise.race([ended, waited]);
    if (found.length > 0) return found.toSorted((one, other) => one.family - other.family);
    const failure = (await ended).find((answer) => answer.status === 'rejected')?.reason as NodeJS.ErrnoException;
    if (failure.code === 'ETIMEOUT' && resolver === current) current = makeResolver();
    if (!NOT_KNOWN.has(failure.code ?? '')) throw failure;
    return dns.lookup(hostname, { all: true, verbatim: true });
  };
}

export const resolveName = createResolve(() => new dns.Resolver({ timeout: 2_000, tries: 2 }));
