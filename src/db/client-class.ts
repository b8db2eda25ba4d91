// The driver's client for an address. With `require_auth=scram-sha-256`, as in libpq, the server has to prove that it
// knows the password and is never sent it: once the embedded server has been killed, another user of the machine may be
// listening on its port.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { PROOF_METHOD, PROOF_PARAMETER } from '../config/database-address.ts';

/** The driver's handlers for the messages with which the server begins a connection. */
interface DriverInternals {
  connection: { stream: Duplex };
  /** Set while a proof is awaited; null once it has been verified. */
  saslSession: object | null | undefined;
  _handleAuthCleartextPassword: (message: unknown) => void;
  _handleAuthMD5Password: (message: unknown) => void;
  _handleAuthSASLFinal: (message: unknown) => void;
  _handleReadyForQuery: (message: unknown) => void;
}

const Client = pg.Client as unknown as new (config?: string | pg.ClientConfig) => pg.Client;
const driver = pg.Client.prototype as unknown as DriverInternals;

class ProvingClient extends Client {
  #hasProven = false;

  get #internals(): DriverInternals {
    return this as unknown as DriverInternals;
  }

  #refuse(): void {
    this.#internals.connection.stream.destroy(new Error('the server does not prove that it knows the password'));
  }

  _handleAuthCleartextPassword(): void {
    this.#refuse();
  }

  _handleAuthMD5Password(): void {
    this.#refuse();
  }

  _handleAuthSASLFinal(message: unknown): void {
    if (this.#internals.saslSession) {
      driver._handleAuthSASLFinal.call(this, message);
      this.#hasProven = this.#internals.saslSession === null;
    }
    if (!this.#hasProven) this.#refuse();
  }

  _handleReadyForQuery(message: unknown): void {
    if (this.#hasProven) driver._handleReadyForQuery.call(this, message);
    else this.#refuse();
  }
}

/** Creates a client that fails to connect, with this error. */
function createFailingClient(error: unknown): pg.Client {
  const client = new Client();
  client.connect = ((done?: (error: unknown) => void) =>
    done ? process.nextTick(done, error) : Promise.reject(error)) as pg.Client['connect'];
  return client;
}

/**
 * Returns the class of clients for an address. The driver reads certificate files as it creates a client. If one is
 * gone while the service runs, connecting fails instead: a pool creates clients where nobody could catch the error.
 */
export function clientClass(address: string): typeof Client {
  const Chosen = new URL(address).searchParams.get(PROOF_PARAMETER) === PROOF_METHOD ? ProvingClient : Client;
  function make(config: pg.ClientConfig): pg.Client {
    try {
      return new Chosen(config);
    } catch (error) {
      return createFailingClient(error);
    }
  }
  return make as unknown as typeof Client;
}

/** Creates a client outside any pool, not yet connected. */
export function createClient(config: pg.ClientConfig & { connectionString: string }): pg.Client {
  return new (clientClass(config.connectionString))(config);
}
