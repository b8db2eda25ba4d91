// The Content-Type of JSON that is sent as text.
export const JSON_TYPE = 'application/json; charset=utf-8';
