// The catalogue of errors: condition → status, code, source, message (interface 7, decisions.md 1). It is keyed by
// condition because one code has several statuses. Internal causes never appear in it. Pure.

interface Condition {
  status: number;
  code: string;
  source: string | null;
  /** The public text; `detail` comes from the thrower and must not be anything internal. */
  message: (detail: string) => string;
}

export const CONDITIONS = {
  not_authenticated: {
    status: 401,
    code: 'not_authenticated',
    source: 'non_field_errors',
    message: () => 'Authentication credentials were not provided.',
  },
  profile_not_found: {
    status: 404,
    code: 'profile_does_not_exist',
    source: null,
    message: () => 'Profile not found by customer_user_id or profile_id.',
  },
  profile_not_named: {
    status: 400,
    code: 'profile_does_not_exist',
    source: 'non_field_errors',
    message: () => 'No profile was specified: send the header service-customer-user-id or service-profile-id.',
  },
  access_level_not_found: {
    status: 400,
    code: 'paid_access_level_does_not_exist',
    source: 'non_field_errors',
    message: (level) => `Paid access level \`${level}\` does not exist.`,
  },
  grant_not_found: {
    status: 400,
    code: 'profile_paid_access_level_does_not_exist',
    source: 'non_field_errors',
    message: (level) => `The profile has no grant of the paid access level \`${level}\`.`,
  },
  revocation_after_end: {
    status: 400,
    code: 'revocation_date_more_than_expiration_date',
    source: 'non_field_errors',
    message: () => 'The grant ends before the requested time; a revocation can only end it earlier.',
  },
  idempotency_in_flight: {
    status: 409,
    code: 'idempotency_in_flight',
    source: null,
    message: () => 'The first request with this Idempotency-Key is still running; try again shortly.',
  },
  malformed_body: {
    status: 400,
    code: 'parse_error',
    source: null,
    message: () => 'The body is not valid JSON in UTF-8.',
  },
  malformed_request: {
    status: 400,
    code: 'parse_error',
    source: null,
    message: () => 'The request is not valid HTTP.',
  },
  body_not_object: {
    status: 400,
    code: 'type_error',
    source: 'non_field_errors',
    message: () => 'The body must be a JSON object.',
  },
  path_not_found: { status: 404, code: 'not_found', source: null, message: () => 'There is nothing at this path.' },
  method_not_allowed: {
    status: 405,
    code: 'method_not_allowed',
    source: null,
    message: (method) => `Method ${method} is not allowed at this path.`,
  },
  request_timeout: {
    status: 408,
    code: 'request_timeout',
    source: null,
    message: () => 'The request did not arrive in time.',
  },
  body_too_large: {
    status: 413,
    code: 'request_too_large',
    source: null,
    message: () => 'The body is larger than this operation accepts.',
  },
  unsupported_media_type: {
    status: 415,
    code: 'unsupported_media_type',
    source: null,
    message: () => 'The Content-Type must be application/json.',
  },
  unsupported_content_encoding: {
    status: 415,
    code: 'unsupported_media_type',
    source: null,
    message: () => 'The body must not be compressed.',
  },
  throttled: {
    status: 429,
    code: 'throttled',
    source: 'non_field_errors',
    message: () => 'Too many requests; try again later.',
  },
  headers_too_large: {
    status: 431,
    code: 'request_header_fields_too_large',
    source: null,
    message: () => 'The request headers are too large.',
  },
  internal: { status: 500, code: 'internal_error', source: null, message: () => 'Something went wrong on our side.' },
  unavailable: {
    status: 503,
    code: 'service_unavailable',
    source: null,
    message: () => 'The service is not available at the moment; try again shortly.',
  },
} as const satisfies Record<string, Condition>;

export type ConditionName = keyof typeof CONDITIONS;

/** Codes of validation errors (decisions.md 1, "Validation errors"). */
export type ValidationCode = 'missing' | 'enum' | 'datetime' | 'type_error' | 'value_error';

/** One offending field: its path (or header name) and what is wrong with it. */
export interface FieldError {
  source: string;
  code: ValidationCode;
  message: string;
}

/** The body of every error (interface 7). */
export interface ErrorBody {
  errors: { source: string | null; errors: string[] }[];
  error_code: string;
  status_code: number;
}

/** An error that a client may see. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
  readonly statusCode: number;

  constructor(body: ErrorBody, headers: Record<string, string> = {}) {
    super(body.errors[0]?.errors[0] ?? body.error_code);
    this.body = body;
    this.headers = headers;
    this.statusCode = body.status_code;
  }
}

const DEFAULT_HEADERS: Partial<Record<ConditionName, Record<string, string>>> = {
  not_authenticated: { 'www-authenticate': 'Api-Key' },
  idempotency_in_flight: { 'retry-after': '1' },
  unsupported_content_encoding: { 'accept-encoding': 'identity' },
  unavailable: { 'retry-after': '1' },
};

/** Returns the error of a condition; `detail` goes into its message, `headers` into the response. */
export function apiError(name: ConditionName, detail = '', headers: Record<string, string> = {}): ApiError {
  const { status, code, source, message } = CONDITIONS[name] satisfies Condition;
  const body = { errors: [{ source, errors: [message(detail)] }], error_code: code, status_code: status };
  return new ApiError(body, { ...DEFAULT_HEADERS[name], ...headers });
}

/**
 * If a body is wrong everywhere, the first fields are enough: entries for all of them could be many times as large as
 * the body.
 */
const MAX_REPORTED_FIELDS = 100;
/** Unknown members are reported under the names that were sent, up to this length. */
const MAX_SOURCE_LENGTH = 500;

/**
 * Returns a 400 with one entry per offending field, in the order given, up to a hundred; the code is that of the first,
 * of which there must be one.
 */
export function validationError(fields: readonly FieldError[]): ApiError {
  const errors = fields.slice(0, MAX_REPORTED_FIELDS).map(({ source, message }) => ({
    source: source.slice(0, MAX_SOURCE_LENGTH).toWellFormed(),
    errors: [message],
  }));
  return new ApiError({ errors, error_code: fields[0]!.code, status_code: 400 });
}

/** Returns a 400 with a single `value_error`. */
export function valueError(source: string, message: string): ApiError {
  return validationError([{ source, code: 'value_error', message }]);
}
