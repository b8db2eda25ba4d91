// Names to addresses, for webhooks. c-ares first: dns.lookup holds a thread of a pool of four while it waits, so that a few
// names whose servers hang would delay everybody. lookup is asked only for what DNS does not know (a hosts file).
import { promises as dns } from 'node:dns';

interface Address {
  address: string;
  family: number;
}

/** The outbound network's edge: tests put a resolver of their own here. Rejects when a name has no address. */
export type Resolve = (hostname: string) => Promise<Address[]>;

const NOT_KNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ESERVFAIL']);

const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });

export const resolveName: Resolve = async (hostname) => {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const [v4, v6] = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const found = [
    ...(v4 ?? []).map((address) => ({ address, family: 4 })),
    ...(v6 ?? []).map((address) => ({ address, family: 6 })),
  ];
  if (found.length > 0) return found;
  const failure = answers.find((answer) => answer.status === 'rejected')?.reason as NodeJS.ErrnoException | undefined;
  if (failure && !NOT_KNOWN.has(failure.code ?? '')) throw failure;
  return dns.lookup(hostname, { all: true, verbatim: true });
};
