-- Webhook endpoints, and the outbox: events (which are the event feed) and their deliveries (which are the queue).
-- The outbox stays in one place when profiles are spread over machines. It has no foreign keys: every grant writes to
-- it, and each key would be one more lock on a row that all grants share (the app, the endpoint).

create table webhook (
  webhook_id uuid primary key default gen_random_uuid(),
  app_id uuid not null references app,
  url text not null check (length(url) between 1 and 2048),
  authorization_value text,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  event_types text[],
  state text not null default 'enabled' check (state in ('enabled', 'disabled', 'suspended')),
  state_reason text,
  state_changed_at timestamptz not null,
  first_failure_at timestamptz,
  failed_attempts integer not null default 0,
  created_at timestamptz not null
);
create index webhook_app on webhook (app_id, created_at);
comment on table webhook is 'An endpoint that receives the events of an app.';
comment on column webhook.authorization_value is 'Value of the Authorization header, if one is sent; encrypted like the secret.';
comment on column webhook.secret is 'Signing secret (Standard Webhooks, whsec_…), encrypted (sealed:1:…) if an encryption key is configured. During a rotation, previous_secret signs as well until previous_secret_until.';
comment on column webhook.event_types is 'The event types that are sent; null for all.';
comment on column webhook.state is 'disabled: by the operator; no events are written for it. suspended: by the service; its deliveries stay pending.';
comment on column webhook.first_failure_at is 'The first failed attempt since the last success; failed_attempts counts them. Null and 0 if the last attempt succeeded.';

create table webhook_event (
  sequence bigint generated always as identity primary key,
  event_id uuid not null,
  app_id uuid not null,
  profile_id uuid not null,
  customer_user_id text,
  event_type text not null,
  created_at timestamptz not null default clock_timestamp(),
  payload json not null
);
create index webhook_event_feed on webhook_event (app_id, created_at, sequence);
create index webhook_event_profile on webhook_event (app_id, profile_id, created_at, sequence);
create index webhook_event_customer on webhook_event (app_id, customer_user_id, created_at, sequence)
  where customer_user_id is not null;
create index webhook_event_type on webhook_event (app_id, event_type, created_at, sequence);
comment on table webhook_event is 'What happened, in the words that endpoints receive. Written only if the app has an endpoint that is not disabled.';
comment on column webhook_event.sequence is 'Drawn while the writer holds the row lock of the profile, so that it orders the events of a profile.';
comment on column webhook_event.event_id is 'profile_event_id in the payload and webhook-id in the header.';
comment on column webhook_event.payload is 'The body as it is sent. json and not jsonb, because json keeps the order of members.';

create table webhook_delivery (
  sequence bigint not null,
  webhook_id uuid not null,
  profile_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  due_at timestamptz not null default clock_timestamp() - interval '10 seconds',
  queued_at timestamptz not null default clock_timestamp(),
  claim_id uuid,
  attempts integer not null default 0,
  attempted_at timestamptz,
  finished_at timestamptz,
  last_status integer,
  last_error text,
  last_response text,
  forgets_response boolean not null default false,
  primary key (sequence, webhook_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
create index webhook_delivery_due on webhook_delivery (webhook_id, due_at, sequence) where state = 'pending';
create index webhook_delivery_order on webhook_delivery (webhook_id, profile_id, sequence) where state = 'pending';
create index webhook_delivery_dead on webhook_delivery (webhook_id, sequence) where state = 'dead';
comment on table webhook_delivery is 'One event on its way to one endpoint.';
comment on column webhook_delivery.due_at is 'When a dispatcher may claim it next. While it is claimed, the end of the lease; while an earlier event of the profile is pending, when to look again. A new delivery is due slightly in the past, so that clocks that differ delay nothing.';
comment on column webhook_delivery.queued_at is 'When it was queued: with the event, or when it was replayed.';
comment on column webhook_delivery.claim_id is 'The claim under which it is being sent. Only the holder of the claim may write a result.';
comment on column webhook_delivery.attempts is 'Attempts since it was queued.';
comment on column webhook_delivery.last_error is 'Why the last attempt failed, if the status does not say it: a refused destination, a timeout, a broken connection.';
comment on column webhook_delivery.last_response is 'The first 2 KiB of the last response.';
comment on column webhook_delivery.forgets_response is 'True if its profile has been deleted: responses of receivers are not kept.';
