-- Totals of the facts per day and month, per value of every dimension but attribution: an exact cache of fact_transaction.
-- Always true: totals = sum of the facts that are not pending + sum of the images in fact_retired.

create function first_of_month(day integer) returns integer
  language sql immutable parallel safe
  as $$ select date_trunc('month', date '1970-01-01' + day)::date - date '1970-01-01' $$;
comment on function first_of_month(integer) is 'Of days since 1970-01-01: the first of the month of a day.';

create table fact_pending (
  app_key integer not null,
  profile_id uuid not null,
  purchase_no bigint not null,
  touched integer not null default 0,
  primary key (app_key, profile_id, purchase_no)
);
comment on table fact_pending is 'Facts that the totals do not contain yet; charts read them one by one.';
comment on column fact_pending.touched is 'Counts changes since the fact became pending, so that a totals run that saw an earlier state fails and is tried again.';

create table fact_retired (like fact_transaction);
create index fact_retired_app on fact_retired (app_key);
comment on table fact_retired is 'Images of facts as the totals still contain them, although the fact has changed or is gone.';

create table fact_total (
  app_key integer not null,
  grain smallint not null,
  home smallint not null,
  moment smallint not null,
  day integer not null,
  key integer not null,
  n integer not null,
  n_priced integer not null,
  n_trial integer not null,
  n_paid integer not null,
  n_first_paid integer not null,
  n_one_time integer not null,
  n_kept integer not null,
  n_monthly integer not null,
  revenue bigint not null,
  proceeds bigint not null,
  net bigint not null,
  monthly_revenue bigint not null,
  monthly_proceeds bigint not null,
  monthly_net bigint not null,
  primary key (app_key, grain, home, moment, day, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
comment on table fact_total is 'Sums of the facts by a moment of theirs; never the only copy. Codes of grain, home and moment: src/facts/totals-schema.ts.';
comment on column fact_total.grain is 'day or month; of a month, day is its first.';
comment on column fact_total.home is 'The fact column by which the row is split, key its value there; 0 and key 0: not split.';
comment on column fact_total.n_kept is 'Paid periods that have no refund, also none to come; n_monthly and the monthly amounts count those that add to MRR.';

create index fact_transaction_active_until on fact_transaction (app_key, active_until_day);
create index fact_transaction_lapse on fact_transaction (app_key, lapse_day) where lapse_day is not null;
create index fact_transaction_refunded on fact_transaction (app_key, refunded_day) where refunded_day is not null;
create index fact_transaction_renewal_cancelled on fact_transaction (app_key, renewal_cancelled_day)
  where renewal_cancelled_day is not null;
create index fact_transaction_grace on fact_transaction (app_key, grace_day) where grace_day is not null;
create index fact_transaction_billing_issue on fact_transaction (app_key, billing_issue_day)
  where billing_issue_day is not null;
create index fact_transaction_installed on fact_transaction (app_key, installed_day);
