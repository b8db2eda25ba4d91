// Listens for nudges on a connection that is restored when it is lost. Polling finds what is missed meanwhile.
import type pg from 'pg';
import type { Logger } from 'pino';
import { applySettings, KEEP_ALIVE } from '../db/client.ts';
import { createClient } from '../db/client-class.ts';
import { createBackoff } from '../lib/backoff.ts';
import { CHANNEL } from './nudge.ts';

const FIRST_RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 5_000;

export interface Listener {
  stop: () => Promise<void>;
}

/** Calls `onNudge` for each nudge, and also after each connect, as nudges may have been missed. */
export function listenForNudges(connectionString: string, onNudge: () => void, log: Logger): Listener {
  const backoff = createBackoff(FIRST_RECONNECT_MS, MAX_RECONNECT_MS);
  let isStopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  function reconnect(error: Error): void {
    if (isStopped || timer) return;
    log.warn({ err: error }, 'the webhook listener is disconnected; polling continues');
    timer = setTimeout(() => {
      timer = undefined;
      connection = connect();
    }, backoff.next());
  }

  async function connect(): Promise<void> {
    const next = createClient({
      connectionString,
      application_name: 'sps-webhooks',
      ...KEEP_ALIVE,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    client = next;
    let isLost = false;
    const onLost = (error: Error) => {
      if (isLost) return;
      isLost = true;
      void next.end().catch(() => undefined);
      reconnect(error);
    };
    next.on('error', onLost);
    next.on('end', () => onLost(new Error('the connection ended')));
    next.on('notification', onNudge);
    try {
      await next.connect();
      // The connection may be idle between nudges for any length of time.
      await applySettings(next, { idle_session_timeout: '0' });
      await next.query(`listen ${CHANNEL}`);
      backoff.reset();
      onNudge();
    } catch (error) {
      onLost(error as Error);
    }
  }

  let connection = connect();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await connection;
      await client?.end().catch(() => undefined);
    },
  };
}
