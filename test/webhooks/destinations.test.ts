// Every disguise of an address that nothing may be sent to.
import { describe, expect, it } from 'vitest';
import { type DestinationPolicy, refusalOfAddress, refusalOfUrl } from '../../src/webhooks/destinations.ts';

const STRICT: DestinationPolicy = { allowHttp: true, allowPrivate: false };
const PRIVATE: DestinationPolicy = { allowHttp: false, allowPrivate: true };

const DISGUISES = {
  '127.0.0.1': [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '0177.0x0.0.1',
    '127.000.000.001',
    '127.0.0.1.',
    '127.255.255.254',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[2002:7f00:1::]',
    '１２７.０.０.１',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
  ],
  '169.254.169.254': [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '025177524776',
    '0xa9.0xfe.0xa9.0xfe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.16689662',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b::169.254.169.254]',
    '[::169.254.169.254]',
    '[2002:a9fe:a9fe::]',
  ],
  '10.0.0.1': [
    '10.0.0.1',
    '10.1',
    '167772161',
    '0x0a000001',
    '012.0.0.1',
    '012.1',
    '01200000001',
    '[::ffff:10.0.0.1]',
    '[::ffff:a00:1]',
    '[64:ff9b::a00:1]',
    '[64:ff9b::10.0.0.1]',
    '[::10.0.0.1]',
    '[2002:a00:1::]',
  ],
};

describe.each(Object.entries(DISGUISES))('%s', (_address, disguises) => {
  it.each(disguises)('is refused as %s', (host) => {
    expect(refusalOfUrl(`http://${host}/hook`, STRICT)).toMatch(/is an? .+ address/);
  });
});

describe('addresses', () => {
  const ALLOWED = ['loopback', 'private', 'carrier-grade NAT'];
  const REFUSED = {
    unspecified: ['0.0.0.0', '0.1.2.3', '::'],
    loopback: ['127.0.0.1', '127.255.255.255', '::1'],
    private: ['10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fdff::1', 'fec0::1'],
    'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
    'link-local': ['169.254.1.1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
    multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
    reserved: [
      '192.0.0.1',
      '192.0.2.1',
      '192.88.99.1',
      '198.18.0.1',
      '198.19.255.255',
      '198.51.100.1',
      '203.0.113.1',
      '240.0.0.1',
      '255.255.255.255',
      '2001:db8::1',
      '2001::1',
      '2001:1ff::1',
      '3fff::1',
      '64:ff9b:1::1',
      '100::1',
      '4000::1',
    ],
    metadata: [
      '169.254.169.254',
      '169.254.170.2',
      '169.254.170.23',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
    ],
  };
  for (const [network, addresses] of Object.entries(REFUSED)) {
    it.each(addresses)(`%s is refused: ${network}`, (address) => {
      const remedy = ALLOWED.includes(network) ? ', and WEBHOOK_ALLOW_PRIVATE is not set' : '';
      expect(refusalOfAddress(address, STRICT)).toMatch(new RegExp(`^${address} is an? ${network} address${remedy}$`));
    });
  }

  it.each([
    '1.1.1.1',
    '11.0.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '192.169.0.1',
    '198.20.0.1',
    '2001:200::1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
  ])('%s is public', (address) => {
    expect(refusalOfAddress(address, STRICT)).toBeUndefined();
  });

  it('private and loopback ones are open with WEBHOOK_ALLOW_PRIVATE, never metadata or what cannot be a receiver', () => {
    for (const address of [
      '127.0.0.1',
      '::1',
      '10.0.0.1',
      '192.168.0.1',
      'fd12::1',
      '::ffff:127.0.0.1',
      '100.64.0.1',
    ]) {
      expect(refusalOfAddress(address, PRIVATE)).toBeUndefined();
    }
    for (const address of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '100.100.100.200',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
      '0.0.0.0',
      '169.254.1.1',
      '224.0.0.1',
    ]) {
      expect(refusalOfAddress(address, PRIVATE)).toBeDefined();
    }
  });

  it('anything that is not an address is refused', () => {
    expect(refusalOfAddress('unknown', PRIVATE)).toBe('unknown is not an IP address');
  });
});

describe('URLs', () => {
  const HTTPS_ONLY: DestinationPolicy = { allowHttp: false, allowPrivate: false };

  it('must be https, or http only if it is allowed', () => {
    expect(refusalOfUrl('https://example.com/hook', HTTPS_ONLY)).toBeUndefined();
    expect(refusalOfUrl('http://example.com/hook', HTTPS_ONLY)).toBe(
      'it must begin with https:, as neither WEBHOOK_ALLOW_HTTP nor WEBHOOK_ALLOW_PRIVATE is set',
    );
    expect(refusalOfUrl('http://example.com/hook', STRICT)).toBeUndefined();
    expect(refusalOfUrl('http://localhost:3000/hook', PRIVATE)).toBeUndefined();
    expect(refusalOfUrl('ftp://example.com/hook', HTTPS_ONLY)).toBe('it must begin with https:');
    for (const policy of [STRICT, PRIVATE]) {
      expect(refusalOfUrl('ftp://example.com/hook', policy)).toBe('it must begin with https: or http:');
      expect(refusalOfUrl('file:///etc/passwd', policy)).toBe('it must begin with https: or http:');
    }
  });

  it('must be URLs without a password, of a bounded length', () => {
    expect(refusalOfUrl('example.com', HTTPS_ONLY)).toBe('it is not a URL');
    for (const credentials of ['user:pass', 'user', ':pass']) {
      expect(refusalOfUrl(`https://${credentials}@example.com`, HTTPS_ONLY)).toBe(
        'it must not contain a user name or password',
      );
    }
    expect(refusalOfUrl('https://example.com:0/', HTTPS_ONLY)).toBe('its port must not be 0');
    const origin = 'https://example.com/';
    for (const path of ['a'.repeat(2049 - origin.length), 'é'.repeat(1 + (2048 - origin.length) / 6)]) {
      expect(refusalOfUrl(origin + path, HTTPS_ONLY)).toBe('it is longer than 2048 characters');
    }
    for (const path of ['a'.repeat(2048 - origin.length), 'é'.repeat((2048 - origin.length) / 6)]) {
      expect(refusalOfUrl(origin + path, HTTPS_ONLY)).toBeUndefined();
    }
  });
});
