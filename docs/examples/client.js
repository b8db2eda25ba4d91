// The three operations from Node, with undici (npm i undici). Copy what you need:
//   const service = createClient({ baseUrl: 'http://127.0.0.1:8080', publicKey, secretKey });
//   await service.grantAccessLevel('user-1', { access_level_id: 'premium', expires_at: null });
import { randomUUID } from 'node:crypto';
import { Agent, RetryAgent, request } from 'undici';

/** Retries requests that got no response or a retryable one, after `Retry-After` if the response has it. */
const dispatcher = new RetryAgent(new Agent({ headersTimeout: 35_000 }), {
  methods: ['POST'],
  // 409: an earlier attempt with the same Idempotency-Key is still in progress.
  statusCodes: [409, 429, 502, 503, 504],
  maxRetries: 4,
  // The caller gets the last response.
  throwOnError: false,
});

/** Returns the service's error envelope; a proxy in front of it may have answered with something else. */
function parseError(text) {
  try {
    const error = JSON.parse(text);
    if (Array.isArray(error.errors)) return error;
  } catch {
    // Not JSON.
  }
  return { error_code: 'unexpected_response', errors: [{ source: null, errors: [text.slice(0, 200)] }] };
}

/** A request that the service refused: branch on `code`, its error_code; `requestId` finds it in the service's log. */
export class ServiceError extends Error {
  constructor(status, text, requestId) {
    const { error_code, errors } = parseError(text);
    super(errors.map(({ source, errors: texts }) => `${source ?? error_code}: ${texts.join(' ')}`).join('; '));
    this.status = status;
    this.code = error_code;
    this.requestId = requestId;
  }
}

export function createClient({ baseUrl, adminUrl = baseUrl, publicKey, secretKey }) {
  async function post(url, key, body, headers = {}) {
    const response = await request(url, {
      method: 'POST',
      dispatcher,
      headers: { authorization: `Api-Key ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 400) throw new ServiceError(response.statusCode, text, response.headers['request-id']);
    return text === '' ? undefined : JSON.parse(text).data;
  }

  return {
    /** `record` names the profile by `customer_user_id` or `profile_id`. Sending it again changes nothing. */
    recordAttribution: (record) => post(`${baseUrl}/api/v2/web-api/attribution/`, publicKey, record),

    /**
     * Grants an access level and returns the profile. The idempotency key makes retries safe: one grant, one webhook.
     * @param {string} idempotencyKey
     */
    grantAccessLevel: (customerUserId, grant, idempotencyKey = randomUUID()) =>
      post(`${baseUrl}/api/v2/server-side-api/purchase/profile/grant/access-level/`, secretKey, grant, {
        // The service reads header bytes as UTF-8, but Node would send them as Latin-1.
        'service-customer-user-id': Buffer.from(customerUserId).toString('latin1'),
        'idempotency-key': idempotencyKey,
      }),

    /** Returns the metrics of a chart, keyed by money basis or under `common`. */
    retrieveAnalytics: (question) => post(`${adminUrl}/api/v1/client-api/metrics/analytics/`, secretKey, question),
  };
}
