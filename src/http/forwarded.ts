// Removes ports from X-Forwarded-For. Some proxies (Azure's application gateway) append the client's port to its
// address: the limits would take each connection for a client of its own, and no trusted proxy would be recognised by
// its address.
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';

const NAME = 'x-forwarded-for';
/** `192.0.2.1:443`, `[2001:db8::1]:443` or `[2001:db8::1]`. */
const WITH_PORT = /^(?:([\d.]+):\d+|\[([^\]]+)\](?::\d+)?)$/;

function withoutPort(address: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(address) ?? [];
  return ipv4 ?? ipv6 ?? address;
}

export function registerForwarded(app: FastifyInstance, { TRUST_PROXY }: Config): void {
  if (TRUST_PROXY.length === 0) return;
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const forwarded = headers[NAME];
    if (typeof forwarded === 'string') {
      headers[NAME] = forwarded
        .split(',')
        .map((one) => withoutPort(one.trim()))
        .join(', ');
    }
    done();
  });
}
