// Some proxies write the client's port behind its address into X-Forwarded-For (Azure's application gateway): with it each connection would
// be a client of its own to the limits, and no proxy would be known by its address.
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
