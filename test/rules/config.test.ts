// The configuration (src/config.ts): what is accepted, that every problem is reported at once, and that the README's
// table and .env.example match it. To generate them again: npm run docs
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig, VARIABLES } from '../../src/config.ts';
import { envExample, withTables } from './config-docs.ts';

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

test('no variable has to be set', () => {
  expect(loadConfig({})).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 8080,
    ADMIN_PORT: undefined,
    DATABASE_URL: undefined,
    SPS_DATA_DIR: './.data',
    LOG_LEVEL: 'info',
    HEADER_ALIASES: [],
    RATE_LIMIT_SERVER: 1000,
    RATE_LIMIT_ANALYTICS: 20,
    RATE_LIMIT_ATTRIBUTION_PER_IP: 0,
    TRUST_PROXY: [],
    ADMIN_CORS_ORIGIN: undefined,
    METRICS_TOKEN: undefined,
    WEBHOOK_ALLOW_HTTP: false,
    WEBHOOK_ALLOW_PRIVATE: false,
  });
});

test('an empty or blank variable counts as unset', () => {
  for (const blank of ['', '  ']) {
    const env = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, blank]));
    expect(loadConfig(env)).toEqual(loadConfig({}));
  }
});

test('variables are read into their types', () => {
  const env = {
    PORT: '0',
    ADMIN_PORT: ' 65535',
    HEADER_ALIASES: 'acme, other',
    TRUST_PROXY: '10.0.0.0/8,::1, 192.168.1.1/32,2001:db8::1/128',
    ADMIN_CORS_ORIGIN: 'https://example.com:8443',
    METRICS_TOKEN: 'sixteen-letters!',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_PRIVATE: 'false',
    SPS_ENCRYPTION_KEY: 'AB'.repeat(32),
    SPS_ENCRYPTION_KEY_PREVIOUS: `${'q'.repeat(42)}o=`,
    DATABASE_URL: 'postgres://user:p%40ss@db:5432/sps?sslmode=require',
  };
  expect(loadConfig(env)).toMatchObject({
    PORT: 0,
    ADMIN_PORT: 65535,
    HEADER_ALIASES: ['acme', 'other'],
    TRUST_PROXY: ['10.0.0.0/8', '::1', '192.168.1.1/32', '2001:db8::1/128'],
    ADMIN_CORS_ORIGIN: 'https://example.com:8443',
    METRICS_TOKEN: 'sixteen-letters!',
    WEBHOOK_ALLOW_HTTP: true,
    WEBHOOK_ALLOW_PRIVATE: false,
    SPS_ENCRYPTION_KEY: Buffer.alloc(32, 0xab),
    SPS_ENCRYPTION_KEY_PREVIOUS: Buffer.alloc(32, 0xaa),
    DATABASE_URL: env.DATABASE_URL,
  });
});

test('all problems are reported at once, one per line, by the name of the variable and without its value', () => {
  const env = { PORT: 'eighty', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://user:hunter2@db', METRICS_TOKEN: 'short' };
  expect(problemsOf(env)).toEqual([
    'PORT must be a whole number from 0 to 65535',
    'DATABASE_URL must be a postgres:// address',
    expect.stringMatching(/^LOG_LEVEL must be one of fatal, error, /),
    'METRICS_TOKEN must be at least 16 ASCII characters without spaces',
  ]);
});

test('an unknown way to prove the password is refused, not ignored', () => {
  const address = (method: string) => ({ DATABASE_URL: `postgres://u@db/x?require_auth=${method}` });
  expect(loadConfig(address('scram-sha-256'))).toMatchObject(address('scram-sha-256'));
  expect(() => loadConfig(address('!password'))).toThrow(
    'DATABASE_URL has an unsupported require_auth: use scram-sha-256',
  );
});

test('an unknown way to use TLS is refused, not ignored', () => {
  const address = (mode: string) => ({ DATABASE_URL: `postgres://u@db/x?sslmode=${mode}` });
  for (const mode of ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']) {
    expect(loadConfig(address(mode))).toMatchObject(address(mode));
  }
  expect(() => loadConfig(address('verify_full'))).toThrow(
    'DATABASE_URL has an unsupported sslmode: use one of disable, prefer, ',
  );
  expect(() => loadConfig(address(''))).toThrow('DATABASE_URL has an unsupported sslmode: use one of ');
});

test.each(['a:1,b:2/x', 'u:p@a,b/x', 'a/x?host=a,b', 'a/x?sslmode=require&port=1,2'])(
  'an address with several hosts is refused: %s',
  (address) => {
    const words = 'DATABASE_URL names several hosts: give the one that takes writes';
    expect(() => loadConfig({ DATABASE_URL: `postgres://${address}` })).toThrow(words);
  },
);

test('a comma elsewhere in the address of the database does not separate hosts', () => {
  const DATABASE_URL = 'postgresql://u:p,w@a/x,y?options=-c%20search_path%3Da,b';
  expect(loadConfig({ DATABASE_URL })).toMatchObject({ DATABASE_URL });
});

test('asking for the server that takes writes is refused, as the service looks for none', () => {
  const address = (wanted: string) => ({ DATABASE_URL: `postgres://u@db/x?target_session_attrs=${wanted}` });
  expect(loadConfig(address('any'))).toMatchObject(address('any'));
  expect(() => loadConfig(address('read-write'))).toThrow('DATABASE_URL has an unsupported target_session_attrs: ');
});

test('a certificate file that the address of the database names must exist', () => {
  const DATABASE_URL = 'postgres://u:hunter2@db/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem';
  const words = 'DATABASE_URL names the file /nowhere/ca.pem, which cannot be read (ENOENT)';
  expect(() => loadConfig({ DATABASE_URL })).toThrow(words);
  expect(() => loadConfig({ DATABASE_URL })).not.toThrow('hunter2');
});

describe.each<[string, string[]]>([
  ['PORT', ['-1', '65536', '80.5', '1e3', '0x50', 'eighty']],
  [
    'DATABASE_URL',
    ['mysql://db', 'postgres', 'http://db', 'postgres://db/%', 'postgres://db:port/x', 'postgres://u:%c3@db/x'],
  ],
  ['LOG_LEVEL', ['verbose', 'INFO']],
  ['HEADER_ALIASES', ['Acme', 'acme-', 'acme other', 'acme,,other', '9lives']],
  ['RATE_LIMIT_SERVER', ['-1', 'none', '1.5']],
  [
    'TRUST_PROXY',
    ['true', '10.0.0.0/33', '0.0.0.0/0', '::/0', '10.0.0/8', '::1/129', 'localhost', '10.0.0.1/8/8', '1'],
  ],
  [
    'ADMIN_CORS_ORIGIN',
    ['*', 'example.com', 'https://example.com/', 'https://example.com/path', 'https://a.com,https://b.com'],
  ],
  ['METRICS_TOKEN', ['short', 'fifteen-letters', 'clé-de-seize-lettres', 'sixteen letters with spaces']],
  ['SPS_ENCRYPTION_KEY', ['short', '0'.repeat(63), 'g'.repeat(64), 'A'.repeat(43), `${'A'.repeat(44)}=`]],
  ['WEBHOOK_ALLOW_HTTP', ['yes', '1', 'TRUE']],
])('%s', (name, values) => {
  test.each(values)('refuses %j', (value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must `))]);
  });
});

test('the two listeners cannot share a port, unless both take any free one', () => {
  expect(problemsOf({ ADMIN_PORT: '8080' })).toEqual(['ADMIN_PORT must differ from PORT']);
  expect(problemsOf({ PORT: '0', ADMIN_PORT: '0' })).toEqual([]);
});

test('the previous encryption key is not enough by itself', () => {
  const SPS_ENCRYPTION_KEY_PREVIOUS = '0'.repeat(64);
  expect(problemsOf({ SPS_ENCRYPTION_KEY_PREVIOUS, SPS_ENCRYPTION_KEY: '1'.repeat(64) })).toEqual([]);
  for (const blank of ['', '  ']) {
    expect(problemsOf({ SPS_ENCRYPTION_KEY_PREVIOUS, SPS_ENCRYPTION_KEY: blank })).toEqual([
      'SPS_ENCRYPTION_KEY must be set if SPS_ENCRYPTION_KEY_PREVIOUS is: otherwise new secrets would be stored in clear',
    ]);
  }
});

test('.env.example is printed from the records', async () => {
  await expect(envExample()).toMatchFileSnapshot('../../.env.example');
});

test("the README's tables are printed from the records and from the retry schedule", async () => {
  await expect(withTables(readFileSync('README.md', 'utf8'))).toMatchFileSnapshot('../../README.md');
});
