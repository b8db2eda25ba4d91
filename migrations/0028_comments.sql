-- What is said of tables where the schema has grown past it.

comment on table app is 'One app of the company. Every other row belongs to exactly one app, but for currency rates and the dimensions of facts, which all share.';
comment on table profile is 'A user of an app. Whoever changes what belongs to a profile locks this row first, several in the order of profile_id; a post that names its profile by the customer locks the identity instead, which a deletion removes first.';
comment on column webhook.secret is 'Signing secret (Standard Webhooks, whsec_…), encrypted (sealed:1:…) where there is a key. While one is being rotated previous_secret signs too, until previous_secret_until.';
comment on column webhook.authorization_value is 'Sent as the Authorization header, if there is one; encrypted like the secret.';
comment on table webhook_event is 'What happened, as the endpoints are told; exists only where the app had an endpoint that was not disabled.';
comment on column fact_total.home is 'The column, of the fact or of its label, by which the row is split, key its value there; 0 and key 0: not split.';
