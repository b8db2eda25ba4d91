// The only reader of process.env. Each variable is one record, from which the README's table and .env.example are
// generated.
import { isIP } from 'node:net';
import { isDatabaseAddress } from './config/database-address.ts';
import {
  encryptionKey,
  flag,
  integer,
  list,
  matching,
  oneOf,
  optional,
  Problem,
  text,
  type Variable,
} from './config/variable.ts';

// The driver would take settings for our sessions from it.
delete process.env.PGOPTIONS;

function isNetwork(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

export const VARIABLES = {
  HOST: text('127.0.0.1', 'Address to listen on; `localhost` means 127.0.0.1.'),
  PORT: integer(
    [0, 65535],
    8080,
    'Port of `{base_url}` for apps and backends, and of `{admin_url}` for dashboards unless `ADMIN_PORT` is set; 0 picks a free one.',
  ),
  ADMIN_PORT: optional(
    integer(
      [0, 65535],
      0,
      'Separate port for analytics, the event feed, the API reference, the dashboard and `/metrics`.',
    ),
  ),
  DATABASE_URL: matching(
    isDatabaseAddress,
    'a postgres:// address',
    'PostgreSQL 15 to 18 to use. Unset: an embedded PostgreSQL in `SPS_DATA_DIR`.',
  ),
  SPS_DATA_DIR: text('./.data', 'Where the embedded PostgreSQL keeps its data.'),
  LOG_LEVEL: oneOf(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Lowest level that is logged: fatal, error, warn, info, debug, trace or silent.',
  ),
  DATABASE_POOL_SIZE: integer(
    [2, 200],
    16,
    'Connections for requests other than charts; keys, attributions, webhooks and probes have 10 more.',
  ),
  ANALYTICS_POOL_SIZE: integer([1, 100], 4, 'Connections for charts and the event feed.'),
  ANALYTICS_TIMEOUT_MS: integer([100, 600_000], 30_000, 'Milliseconds that computing a chart may take.'),
  REQUEST_TIMEOUT_MS: integer(
    [100, 600_000],
    30_000,
    'Milliseconds within which a request must arrive completely (its headers within 10 s). A connection that transfers nothing for twice as long is closed; one that is idle between requests, after 72 s.',
  ),
  SHUTDOWN_DELAY_MS: integer(
    [0, 600_000],
    0,
    'Milliseconds between failing `/readyz` and closing the listeners, so that load balancers notice. Stopping takes at most 30 s more.',
  ),
  MAX_CONNECTIONS: integer(
    [1, 1_000_000],
    10_000,
    'Maximum number of concurrent connections; further ones are closed without a response.',
  ),
  MAX_LOOP_DELAY_MS: integer(
    [0, 60_000],
    1_000,
    'Milliseconds by which the event loop may lag before new requests get 503; 0 means no limit.',
  ),
  HEADER_ALIASES: list(
    (part) => /^[a-z][a-z0-9]{0,30}$/.test(part),
    'prefixes of lower-case letters and digits',
    'Prefixes, separated by commas, whose `-customer-user-id`, `-profile-id` and `-tz` headers mean the same as the `service-` ones.',
  ),
  RATE_LIMIT_SERVER: integer(
    [0, 1_000_000],
    1000,
    'Requests per second, per key, to the server-side operations; 0 means no limit.',
  ),
  RATE_LIMIT_ANALYTICS: integer(
    [0, 1_000_000],
    20,
    'Requests per second, per key, to charts and the event feed; 0 means no limit.',
  ),
  RATE_LIMIT_ATTRIBUTION_PER_IP: integer(
    [0, 1_000_000],
    0,
    'Attribution requests per second, per client address; 0 means no limit.',
  ),
  TRUST_PROXY: list(
    isNetwork,
    'IP addresses or networks such as 10.0.0.0/8',
    'Addresses or networks of proxies whose `X-Forwarded-For` is trusted, separated by commas.',
  ),
  ADMIN_CORS_ORIGIN: matching(
    isOrigin,
    'an origin such as https://example.com',
    'Origin whose pages may use the secret-key operations.',
  ),
  METRICS_TOKEN: matching(
    (value) => /^[!-~]{16,}$/.test(value),
    'at least 16 ASCII characters without spaces',
    'Bearer token for reading `/metrics` on the public listener; at least 16 characters.',
  ),
  SPS_ENCRYPTION_KEY: encryptionKey(
    'Key that webhook secrets and Authorization values are encrypted with in the database: 32 bytes, as hex or base64. Unset: they are stored in clear.',
  ),
  SPS_ENCRYPTION_KEY_PREVIOUS: encryptionKey('The previous key; needed until `sps secrets rotate` has run.'),
  WEBHOOK_ALLOW_HTTP: flag('Allow webhook addresses with `http:`.'),
  WEBHOOK_ALLOW_PRIVATE: flag('Allow webhook addresses on private and loopback networks, and `http:`.'),
  EVENT_RETENTION_DAYS: integer(
    [1, 3650],
    90,
    'Days after which events are deleted. Deliveries still pending by then become dead and are kept for 7 more days.',
  ),
} as const satisfies Record<string, Variable<unknown>>;

/** The validated configuration, under the names of the environment variables. */
export type Config = {
  readonly [K in keyof typeof VARIABLES]:
    | ReturnType<(typeof VARIABLES)[K]['parse']>
    | (typeof VARIABLES)[K]['fallback'];
};

/** What is wrong with the environment: every problem, one per line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Reads the configuration; an empty variable counts as unset. Throws a ConfigError that names every problem. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const value = env[name]?.trim();
    try {
      config[name] = value ? variable.parse(value) : variable.fallback;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(`${name} ${error.message}`);
    }
  }
  const { PORT, ADMIN_PORT } = config;
  if (ADMIN_PORT === PORT && PORT !== 0 && PORT !== undefined) problems.push('ADMIN_PORT must differ from PORT');
  if (env.SPS_ENCRYPTION_KEY_PREVIOUS?.trim() && !env.SPS_ENCRYPTION_KEY?.trim()) {
    problems.push(
      'SPS_ENCRYPTION_KEY must be set if SPS_ENCRYPTION_KEY_PREVIOUS is: otherwise new secrets would be stored in clear',
    );
  }
  if (problems.length > 0) throw new ConfigError(`The configuration is invalid:\n  ${problems.join('\n  ')}`);
  return config as Config;
}
