// Checks DATABASE_URL: an address that the driver reads the way libpq would.
import pg from 'pg';
import { Problem } from './variable.ts';

/**
 * libpq's parameter in an address of the database: the server has to prove that it knows the password
 * (db/client-class.ts).
 */
export const PROOF_PARAMETER = 'require_auth';
export const PROOF_METHOD = 'scram-sha-256';

/** The driver would ignore any other mode. */
const SSL_MODES: readonly (string | null)[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Given several hosts, libpq finds the one that takes writes; the driver does not. */
const SEVERAL_HOSTS = /^\w+:\/\/[^/?#]*,[^@/?#]*(?:[/?#]|$)|[?&](?:host|port)=[^&#]*,/;

/**
 * Whether the driver can read the address. It accepts more than a URL may contain, such as a bare percent sign, but no
 * broken escape. Throws a Problem if there is more to say.
 */
export function isDatabaseAddress(value: string): boolean {
  if (SEVERAL_HOSTS.test(value)) throw new Problem('names several hosts: give the one that takes writes');
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) return false;
  const { searchParams } = new URL(value);
  const proof = searchParams.get(PROOF_PARAMETER) ?? PROOF_METHOD;
  if (proof !== PROOF_METHOD) throw new Problem(`has an unsupported ${PROOF_PARAMETER}: use ${PROOF_METHOD}`);
  if (searchParams.has('sslmode') && !SSL_MODES.includes(searchParams.get('sslmode'))) {
    throw new Problem(`has an unsupported sslmode: use one of ${SSL_MODES.join(', ')}`);
  }
  if ((searchParams.get('target_session_attrs') ?? 'any') !== 'any') {
    throw new Problem('has an unsupported target_session_attrs: leave it out and give the host that takes writes');
  }
  try {
    new pg.Client({ connectionString: value });
    return true;
  } catch (error) {
    // The driver reads certificates immediately.
    const { path, code } = error as NodeJS.ErrnoException;
    if (path) throw new Problem(`names the file ${path}, which cannot be read (${code})`);
    return false;
  }
}
