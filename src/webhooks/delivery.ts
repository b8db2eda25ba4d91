// Makes one delivery attempt: a signed POST under one deadline for the whole exchange. Keeps the start of the response.
import { StringDecoder } from 'node:string_decoder';
import { Agent } from 'undici';
import { JSON_TYPE } from '../http/json-type.ts';
import { memoize } from '../lib/memoize.ts';
import { createConnector, DestinationRefused } from './connector.ts';
import { type DestinationPolicy, refusalOfUrl } from './destinations.ts';
import { exchange } from './exchange.ts';
import { type Resolve, resolveName } from './resolve.ts';
import { parseRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signature.ts';

export interface Message {
  url: string;
  authorization: string | null;
  secrets: readonly string[];
  /** webhook-id */
  id: string;
  body: string;
}

export interface Attempt {
  /** null if no response came. */
  status: number | null;
  /** What went wrong beyond the status; null after a complete exchange. */
  error: string | null;
  /** The beginning of the response body, at most 2 KiB. */
  response: string | null;
  retryAfterS: number;
  seconds: number;
}

export interface Sender {
  /** Never rejects. */
  send: (message: Message) => Promise<Attempt>;
  close: () => Promise<void>;
}

export interface SenderOptions {
  policy: DestinationPolicy;
  now: () => Date;
  resolve?: Resolve | undefined;
  deadlineMs?: number | undefined;
  /** An additional certificate authority, PEM. */
  ca?: string;
}

/** Dependencies outside the process, and the deadline of an attempt; tests replace them. */
export type SenderOverrides = Pick<SenderOptions, 'resolve' | 'deadlineMs'>;

const DEADLINE_MS = 10_000;
const KEPT_BYTES = 2048;
/** More than any webhook receiver should send. An endless response is cut off here instead of being read for 10 s. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_CACHED_URLS = 10_000;
const USER_AGENT = 'subscription-profile-service-webhooks/1';

/** Decodes bytes to text that the database can store, at most KEPT_BYTES of it. */
function toKeptText(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  const text = new StringDecoder('utf8').write(bytes).replaceAll('\u0000', '');
  return new StringDecoder('utf8').write(Buffer.from(text).subarray(0, KEPT_BYTES));
}

function describeSendingFailure(error: unknown): string {
  // TLS errors have a `reason`; their message says more about TLS than about the fault.
  const { code, message, reason = message } = error as NodeJS.ErrnoException & { reason?: string };
  if (error instanceof AggregateError) return describeSendingFailure(error.errors[0]);
  if (code === undefined || error instanceof DestinationRefused) return message;
  return reason.includes(code) ? reason : `${code}: ${reason}`;
}

export function createSender({
  policy,
  now,
  resolve = resolveName,
  deadlineMs = DEADLINE_MS,
  ca,
}: SenderOptions): Sender {
  const agent = new Agent({
    connect: createConnector(policy, resolve, ca),
    pipelining: 1,
    connections: null,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveMaxTimeout: 60_000,
  });
  const limits = { deadlineMs, keptBytes: KEPT_BYTES, maxBytes: MAX_RESPONSE_BYTES };

  const checkUrl = memoize(MAX_CACHED_URLS, (url): URL | Error => {
    const refusal = refusalOfUrl(url, policy);
    return refusal === undefined ? new URL(url) : new DestinationRefused(refusal);
  });

  async function send(message: Message): Promise<Attempt> {
    const url = checkUrl(message.url);
    if (url instanceof Error) {
      return { status: null, error: describeSendingFailure(url), response: null, retryAfterS: 0, seconds: 0 };
    }
    const started = performance.now();
    const post = { url, headers: headersOf(message, now()), body: message.body };
    const { status, headers, kept, failure } = await exchange(agent, post, limits);
    const retryAfter = headers['retry-after'];
    return {
      status,
      error: failure === undefined ? null : describeSendingFailure(failure).replaceAll('\u0000', '').slice(0, 500),
      response: status === null ? null : toKeptText(kept),
      retryAfterS: retryAfter === undefined ? 0 : parseRetryAfter(String(retryAfter), now()),
      seconds: (performance.now() - started) / 1000,
    };
  }

  return { send, close: () => agent.destroy() };
}

function headersOf({ authorization, id, body, secrets }: Message, now: Date): Record<string, string> {
  return {
    'content-type': JSON_TYPE,
    'user-agent': USER_AGENT,
    ...(authorization !== null && { authorization }),
    ...signatureHeaders({ id, timestampS: Math.floor(now.getTime() / 1000), body, secrets }),
  };
}
