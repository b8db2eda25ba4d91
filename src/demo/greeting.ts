// What the demo prints: addresses, keys, and one request per operation that works when pasted. Pure.
import type { Keys } from './load.ts';

export interface Greeting extends Keys {
  baseUrl: string;
  adminUrl: string;
  receiverUrl: string;
  /** The last day of the data. */
  until: string;
}

export function greet({ baseUrl, adminUrl, receiverUrl, until, publicKey, secretKey }: Greeting): string {
  const year = [
    `${Number(until.slice(0, 4)) - 1}${until.slice(4, 10)}`.replace('-02-29', '-02-28'),
    until.slice(0, 10),
  ];
  const attribution = { customer_user_id: 'user-1', status: 'non_organic', channel: 'social', campaign: 'spring' };
  const chart = { chart_id: 'mrr', period_unit: 'month', segmentation: 'country', filters: { date: year } };
  return `
Service          ${baseUrl}
Charts           ${adminUrl}/dashboard/ (sign in with the secret key)
API reference    ${adminUrl}/docs/
Webhooks go to   ${receiverUrl} (printed below as they arrive)

Public key       ${publicKey}
Secret key       ${secretKey}

Record attribution (responds 201, no body):
${curl(`${baseUrl}/api/v2/web-api/attribution/`, publicKey, { body: attribution, more: '-i' })}

Grant an access level (returns the profile; the webhook follows):
${curl(`${baseUrl}/api/v2/server-side-api/purchase/profile/grant/access-level/`, secretKey, { body: { access_level_id: 'premium' }, more: "-H 'service-customer-user-id: user-1'" })}

Retrieve a chart (monthly recurring revenue of a year by country):
${curl(`${adminUrl}/api/v1/client-api/metrics/analytics/`, secretKey, { body: chart })}

Press Ctrl-C to stop. The next run keeps the data and prints new keys.
`;
}

function curl(url: string, key: string, { body, more = '' }: { body: object; more?: string }): string {
  const options = `-H 'Authorization: Api-Key ${key}' -H 'Content-Type: application/json'${more && ` ${more}`}`;
  return `curl -s ${options} ${url} -d '${JSON.stringify(body)}'`;
}
