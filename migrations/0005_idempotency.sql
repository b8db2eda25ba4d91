-- What server-side operations leave behind beside the profile: answers for repeated requests, and subscriptions to look after.

create table kept_answer (
  app_id uuid not null,
  profile_id uuid not null,
  operation text not null,
  idempotency_key text not null check (length(idempotency_key) between 1 and 255),
  body_sha256 bytea not null check (length(body_sha256) = 32),
  answer text not null,
  kept_at timestamptz not null,
  primary key (app_id, profile_id, operation, idempotency_key),
  foreign key (app_id, profile_id) references profile
);
create index kept_answer_age on kept_answer (kept_at);
comment on table kept_answer is 'The answer to a request that carried an Idempotency-Key: written in the transaction of the operation, kept for 24 hours, given again when the request is repeated.';
comment on column kept_answer.operation is 'grant, revoke or set_transaction.';
comment on column kept_answer.body_sha256 is 'Of the body in canonical form: another body under the same key is refused.';
comment on column kept_answer.answer is 'The body of the answer, as it was sent.';

create table lapse_watch (
  app_id uuid not null,
  profile_id uuid not null,
  purchase_no bigint not null,
  check_at timestamptz not null,
  primary key (app_id, profile_id, purchase_no),
  foreign key (app_id, profile_id) references profile
);
create index lapse_watch_due on lapse_watch (check_at);
comment on table lapse_watch is 'Subscription periods whose lapse is still to be told to webhooks. Written by set transaction alone, so that imported history tells nothing; gone once the lapse is told.';
comment on column lapse_watch.check_at is 'When it lapses as far as was known; looked up again before anything is told.';
