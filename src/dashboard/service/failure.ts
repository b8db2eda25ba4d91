// Why a request gave no answer, in a sentence for whoever looks at the page.
import { formatMoment, inWords } from '../words/moment.ts';

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
  /** What is wrong with the request, a sentence each. */
  readonly details: readonly string[];

  constructor(kind: FailureKind, message: string, details: readonly string[] = []) {
    super(message);
    this.kind = kind;
    this.details = details;
  }
}

/** All that is said of it. */
export function inOneLine({ message, details }: Failure): string {
  return [message, ...details].join(' ');
}

interface Envelope {
  errors: { source: string | null; errors: string[] }[];
}

/** Nothing of a body that is no envelope of the service. */
function listDetails(body: unknown): string[] {
  const { errors } = (body ?? {}) as Partial<Envelope>;
  if (!Array.isArray(errors) || !errors.every((one) => Array.isArray(one?.errors))) return [];
  return errors.flatMap(({ source, errors: messages }) =>
    messages.map((message) => (source && source !== 'non_field_errors' ? `${source}: ${message}` : message)),
  );
}

const SHORTLY_S = 60;

/** When it is worth trying again, as the answer says; `otherwise` where it says nothing, or that it is soon. */
function sayWhen(seconds: number | undefined, otherwise: string): string {
  if (seconds === undefined || seconds <= SHORTLY_S) return `Try again ${otherwise}.`;
  return `Try again ${inWords(seconds)}, after ${formatMoment(new Date(Date.now() + seconds * 1000).toISOString())}.`;
}

/** The failure that an answer of status 400 or more stands for (interface 7); with the wait that it asks for, in seconds. */
export function toFailure(status: number, body: unknown, wait?: number): Failure {
  if (status === 401) return new Failure('refused_key', 'This key is not accepted.');
  if (status === 429) return new Failure('throttled', `Too many requests at once. ${sayWhen(wait, 'in a moment')}`);
  if (status === 503)
    return new Failure('unavailable', `The service is busy or its database is away. ${sayWhen(wait, 'shortly')}`);
  const details = listDetails(body);
  if (status >= 500) return new Failure('broken', 'The service could not answer. Its log has the cause.', details);
  // Of a proxy, say: it may be over in a moment.
  if (details.length === 0) return unexpectedAnswer([`Its status is ${status}.`]);
  return new Failure(status === 400 ? 'invalid' : 'broken', 'The service does not take this request.', details);
}

/** Of an answer that is none of the operation that was asked. */
export function unexpectedAnswer(details: readonly string[] = []): Failure {
  return new Failure('broken', 'The answer is not what this page expects.', details);
}

/** The failure of whatever was thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure('unreachable', 'The service cannot be reached. Check the connection and try again.');
}
