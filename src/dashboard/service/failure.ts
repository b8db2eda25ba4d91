// Why a request failed, in a sentence for the user of the page.
import { formatMoment, formatWait } from '../words/moment.ts';

export type FailureKind =
  | 'refused_key'
  | 'invalid'
  | 'throttled'
  | 'unavailable'
  | 'unreachable'
  | 'broken'
  | 'stopped';

export class Failure extends Error {
  override name = 'Failure';
  readonly kind: FailureKind;
  /** What is wrong with the request, one sentence per problem. */
  readonly details: readonly string[];

  constructor(kind: FailureKind, message: string, details: readonly string[] = []) {
    super(message);
    this.kind = kind;
    this.details = details;
  }
}

/** Returns the message and all details as one line. */
export function toOneLine({ message, details }: Failure): string {
  return [message, ...details].join(' ');
}

interface Envelope {
  errors: { source: string | null; errors: string[] }[];
}

/** Lists the messages of an error envelope; none if the body is not an envelope of the service. */
function listDetails(body: unknown): string[] {
  const { errors } = (body ?? {}) as Partial<Envelope>;
  if (!Array.isArray(errors) || !errors.every((one) => Array.isArray(one?.errors))) return [];
  return errors.flatMap(({ source, errors: messages }) =>
    messages.map((message) => (source && source !== 'non_field_errors' ? `${source}: ${message}` : message)),
  );
}

const SHORT_WAIT_S = 60;

/** Says when to try again: after the wait that the response asks for, or `otherwise` if that is short or not given. */
function retryAdvice(seconds: number | undefined, otherwise: string): string {
  if (seconds === undefined || seconds <= SHORT_WAIT_S) return `Try again ${otherwise}.`;
  return `Try again ${formatWait(seconds)}, after ${formatMoment(new Date(Date.now() + seconds * 1000).toISOString())}.`;
}

/**
 * Converts a response of status 400 or more into a Failure (interface 7). `wait` is the wait it asks for, in seconds.
 */
export function toFailure(status: number, body: unknown, wait?: number): Failure {
  if (status === 401) return new Failure('refused_key', 'This key is not accepted.');
  if (status === 429) return new Failure('throttled', `Too many requests at once. ${retryAdvice(wait, 'in a moment')}`);
  if (status === 503)
    return new Failure(
      'unavailable',
      `The service is busy or its database is unavailable. ${retryAdvice(wait, 'shortly')}`,
    );
  const details = listDetails(body);
  if (status >= 500)
    return new Failure('broken', 'The service failed to handle this request. See its log for the cause.', details);
  // Possibly from a proxy and over in a moment, so not `invalid`, which offers no retry.
  if (details.length === 0) return unexpectedResponse([`Its status is ${status}.`]);
  return new Failure(status === 400 ? 'invalid' : 'broken', 'The service rejected this request.', details);
}

/** Returns the Failure for a response that does not fit the operation. */
export function unexpectedResponse(details: readonly string[] = []): Failure {
  return new Failure('broken', 'The page received an unexpected response.', details);
}

/** Converts anything that was thrown into a Failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure('unreachable', 'The service cannot be reached. Check the connection and try again.');
}
