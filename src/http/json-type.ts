// The Content-Type of JSON, in responses and in webhook requests.
export const JSON_TYPE = 'application/json; charset=utf-8';
