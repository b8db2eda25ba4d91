// Connects undici to allowed destinations only. A name is resolved once, here, and the connection goes to the addresses
// that were checked, so DNS rebinding gains nothing. Literal addresses bypass `lookup`. Those that the URL's own check
// lets through are checked again as the address of the connected socket, before a byte of the request is sent.
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type DestinationPolicy, refusalOfAddress } from './destinations.ts';
import type { Resolve } from './resolve.ts';

/** Thrown for a destination that must not be reached; `destinations.ts` gives the reason. */
export class DestinationRefused extends Error {
  override name = 'DestinationRefused';

  constructor(reason: string) {
    super(`refused destination: ${reason}`);
  }
}

const CONNECT_TIMEOUT_MS = 10_000;

function requireAllowed(address: string, policy: DestinationPolicy): void {
  const refusal = refusalOfAddress(address, policy);
  if (refusal !== undefined) throw new DestinationRefused(refusal);
}

function checkedLookup(policy: DestinationPolicy, resolve: Resolve): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        try {
          for (const { address } of addresses) requireAllowed(address, policy);
        } catch (error) {
          callback(error as Error, []);
          return;
        }
        const [first] = addresses;
        if (!first) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), []);
        else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

/** Creates a connector for an undici Agent; `ca` adds a certificate authority (tests). */
export function createConnector(policy: DestinationPolicy, resolve: Resolve, ca?: string): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamily: true,
    lookup: checkedLookup(policy, resolve),
    ...(ca !== undefined && { ca }),
  });
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error) {
        callback(error, null);
        return;
      }
      try {
        requireAllowed(socket.remoteAddress ?? 'unknown', policy);
      } catch (refusal) {
        socket.destroy();
        callback(refusal as Error, null);
        return;
      }
      callback(null, socket);
    });
  };
}
