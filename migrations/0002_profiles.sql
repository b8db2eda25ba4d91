-- Profiles, and what is recorded of them.
-- Every profile-scoped table is keyed by profile and has no unique index that leaves the profile out, so that it can
-- be spread by profile_id. Only the identity tables, profile_identity and purchase_chain, are unique in another way.

create table profile (
  app_id uuid not null references app,
  profile_id uuid not null default gen_random_uuid(),
  customer_user_id text check (length(customer_user_id) between 1 and 255),
  installed_at timestamptz not null,
  country text check (country ~ '^[A-Z]{2}$'),
  store text check (length(store) between 1 and 50),
  custom_attributes jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  primary key (app_id, profile_id)
);
comment on table profile is 'A user of an app. Whoever changes what belongs to a profile locks this row first; several rows are locked in the order of profile_id. Exception: a post that names its profile by customer user id locks the identity instead, which a deletion removes first.';
comment on column profile.custom_attributes is 'Object of strings and numbers by key (interface 8).';
comment on column profile.created_at is 'When the row was written, for operators; installed_at is what counts.';
comment on column profile.deleted_at is 'Set when the profile is deleted. The row stays as a nameless tombstone, so that charts keep their figures.';

create table profile_identity (
  app_id uuid not null,
  customer_user_id text not null check (length(customer_user_id) between 1 and 255),
  profile_id uuid not null,
  primary key (app_id, customer_user_id),
  foreign key (app_id, profile_id) references profile
);
comment on table profile_identity is 'The profile of each customer user id.';

-- A foreign key to the profile would lock it: whoever writes a record has locked the profile or the identity that names
-- it, and a deletion locks one and then the other. One to the label would lock a row that half of all profiles share.
-- Records are updated in place and their pages pruned on the way, so vacuum and analyze may take their time.
create table profile_attribution (
  app_id uuid not null,
  profile_id uuid not null,
  attribution_key integer not null,
  attribution_user_id text,
  recorded_at timestamptz not null,
  superseded_keys integer[] not null default '{}',
  superseded_user_ids text[] not null default '{}',
  superseded_at timestamptz[] not null default '{}',
  queue_no bigint,
  primary key (app_id, profile_id)
) with (fillfactor = 85, autovacuum_vacuum_cost_limit = 40, autovacuum_analyze_scale_factor = 1);
comment on table profile_attribution is 'The attribution record of a profile (interface 2.1) and the last ten records that it superseded, newest first.';
comment on column profile_attribution.recorded_at is 'When the record took effect; superseded_at of the previous record is the same instant.';
comment on column profile_attribution.queue_no is 'The queue_no of the profile in label_pending; null if its facts carry the label.';

create table access_grant (
  app_id uuid not null,
  profile_id uuid not null,
  access_level_id text not null,
  grant_id uuid not null default gen_random_uuid(),
  starts_at timestamptz,
  expires_at timestamptz,
  granted_at timestamptz not null,
  first_granted_at timestamptz not null,
  primary key (app_id, profile_id, access_level_id),
  foreign key (app_id, profile_id) references profile,
  foreign key (app_id, access_level_id) references access_level
);
comment on table access_grant is 'The grant of an access level to a profile; a new grant of the same level replaces it (interface 4.3).';

create table kept_response (
  app_id uuid not null,
  profile_id uuid not null,
  operation text not null,
  idempotency_key text not null check (length(idempotency_key) between 1 and 255),
  body_sha256 bytea not null check (length(body_sha256) = 32),
  response text not null,
  kept_at timestamptz not null,
  primary key (app_id, profile_id, operation, idempotency_key),
  foreign key (app_id, profile_id) references profile
);
create index kept_response_age on kept_response (kept_at);
comment on table kept_response is 'The response to a request that carried an Idempotency-Key: written in the transaction of the operation, kept for 24 hours and returned when the request is repeated.';
comment on column kept_response.operation is 'grant, revoke or set_transaction.';
comment on column kept_response.body_sha256 is 'SHA-256 of the request body in canonical form; a different body under the same key is refused.';
comment on column kept_response.response is 'The response body as it was sent.';
