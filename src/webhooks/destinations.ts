// Decides where webhooks may be sent to (decisions.md 7), by the address connected to, never by the name alone.
import { BlockList, isIP } from 'node:net';
import type { Config } from '../config.ts';
import { withArticle } from '../lib/article.ts';

export interface DestinationPolicy {
  allowHttp: boolean;
  allowPrivate: boolean;
}

export function policyOf(config: Pick<Config, 'WEBHOOK_ALLOW_HTTP' | 'WEBHOOK_ALLOW_PRIVATE'>): DestinationPolicy {
  return { allowHttp: config.WEBHOOK_ALLOW_HTTP, allowPrivate: config.WEBHOOK_ALLOW_PRIVATE };
}

/** Special-purpose networks by kind. An address is of the first kind that contains it. */
const NETWORKS = {
  // Cloud machines get their credentials here, so these are refused under every policy.
  metadata: [
    '169.254.169.254/32',
    '169.254.170.2/32',
    '169.254.170.23/32',
    '100.100.100.200/32',
    '168.63.129.16/32',
    '192.0.0.192/32',
    'fd00:ec2::254/128',
    'fd00:ec2::23/128',
    'fd20:ce::254/128',
  ],
  unspecified: ['0.0.0.0/8', '::/128'],
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  'carrier-grade NAT': ['100.64.0.0/10'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  reserved: [
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
  ],
} as const;

type Network = keyof typeof NETWORKS;

const PRIVATE_NETWORKS: readonly Network[] = ['loopback', 'private', 'carrier-grade NAT'];

function family(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family(address));
  }
  return list;
}

const LISTS = Object.entries(NETWORKS).map(([name, networks]) => ({
  name: name as Network,
  list: toBlockList(networks),
}));
const GLOBAL_IPV6 = toBlockList(['2000::/3']);
/** IPv6 forms whose packets go to the IPv4 address in the last 32 bits: IPv4-mapped and NAT64. */
const CARRIES_IPV4 = toBlockList(['::ffff:0:0/96', '64:ff9b::/96']);

/** Returns the IPv4 address in the last 32 bits. */
function embeddedIpv4(address: string): string {
  // The URL parser writes every IPv6 address in hexadecimal groups; an omitted group is zero.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':');
  const [high, low] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16)) as [number, number];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function findNetwork(address: string): Network | undefined {
  const kind = family(address);
  if (kind === 'ipv6' && CARRIES_IPV4.check(address, kind)) return findNetwork(embeddedIpv4(address));
  const found = LISTS.find(({ list }) => list.check(address, kind));
  if (found) return found.name;
  return kind === 'ipv6' && !GLOBAL_IPV6.check(address, kind) ? 'reserved' : undefined;
}

/** Returns why nothing may be sent to an IP address, or undefined if it is allowed. */
export function refusalOfAddress(address: string, policy: DestinationPolicy): string | undefined {
  const plain = address.split('%', 1)[0] ?? '';
  if (isIP(plain) === 0) return `${address} is not an IP address`;
  const network = findNetwork(plain);
  if (network === undefined || (policy.allowPrivate && PRIVATE_NETWORKS.includes(network))) return undefined;
  const remedy = PRIVATE_NETWORKS.includes(network) ? ', and WEBHOOK_ALLOW_PRIVATE is not set' : '';
  return `${address} is ${withArticle(network)} address${remedy}`;
}

const MAX_URL_LENGTH = 2048;

/** Returns why a webhook cannot have this URL, undefined if it can as far as is known without resolving its name. */
export function refusalOfUrl(text: string, policy: DestinationPolicy): string | undefined {
  if (!URL.canParse(text)) return 'it is not a URL';
  // The limit applies to the URL as stored and used: `href` encodes non-ASCII letters, so it may be longer than typed.
  const { href, protocol, username, password, hostname, port } = new URL(text);
  if (href.length > MAX_URL_LENGTH) return `it is longer than ${MAX_URL_LENGTH} characters`;
  const schemes = policy.allowHttp || policy.allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(protocol)) {
    const reason = protocol === 'http:' ? ', as neither WEBHOOK_ALLOW_HTTP nor WEBHOOK_ALLOW_PRIVATE is set' : '';
    return `it must begin with ${schemes.join(' or ')}${reason}`;
  }
  if (username || password) return 'it must not contain a user name or password';
  if (port === '0') return 'its port must not be 0';
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) === 0 ? undefined : refusalOfAddress(literal, policy);
}
