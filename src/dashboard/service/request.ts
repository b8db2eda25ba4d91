// Sends a request to the service that served the page, and to nobody else. Waits out a rate limit that is over soon.
import { toFailure, unexpectedResponse } from './failure.ts';

/**
 * The page is at {admin_url}/dashboard/, so everything else is one level up, even behind a proxy that adds a prefix.
 */
const ROOT = new URL('../', location.href.split('#', 1)[0]);
const MAX_WAIT_S = 5;
const ATTEMPTS = 4;

export interface RequestSpec {
  path: string;
  key?: string;
  headers?: Record<string, string>;
  /** Sent as JSON by POST; without it the request is a GET. */
  body?: object;
  /** Aborts the request; without a signal nothing does. */
  signal?: AbortSignal | undefined;
}

/** Returns undefined if the body is not JSON; throws if the body breaks off. */
async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a wait in seconds from a number, or from a date, which a proxy may send; undefined if it is neither. */
function readWait(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? seconds : undefined;
}

function wait(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

function send({ path, key, headers, body, signal }: RequestSpec): Promise<Response> {
  return fetch(new URL(path, ROOT), {
    method: body ? 'POST' : 'GET',
    mode: 'same-origin',
    credentials: 'omit',
    redirect: 'error',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    headers: {
      ...headers,
      ...(key !== undefined && { authorization: `Api-Key ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: signal ?? null,
  });
}

/** Returns the response if its status is 2xx; throws a Failure for any other status. */
export async function request(spec: RequestSpec): Promise<Response> {
  if (spec.key && !/^[\x21-\x7e]+$/.test(spec.key)) throw toFailure(401, undefined);
  for (let attempt = 1; ; attempt++) {
    const response = await send(spec);
    if (response.ok) return response;
    const seconds = readWait(response.headers.get('retry-after'));
    const isShort = seconds !== undefined && seconds <= MAX_WAIT_S;
    const isWorthWaiting = response.status === 429 && isShort && attempt < ATTEMPTS;
    if (!isWorthWaiting) throw toFailure(response.status, await readJson(response), seconds);
    await wait(Math.max(seconds, 1), spec.signal);
  }
}

export async function requestJson<T>(spec: RequestSpec): Promise<T> {
  const body = await readJson(await request(spec));
  if (typeof body !== 'object' || body === null) throw unexpectedResponse();
  return body as T;
}
