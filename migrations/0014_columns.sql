-- A columnar copy of the facts, per month of purchase, for questions that no total answers; and indexes that hold all that the charts of
-- rare moments sum.

drop index fact_transaction_refunded;
create index fact_transaction_refunded on fact_transaction (app_key, refunded_day) include (
  refunded_at, attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration,
  renewal_status, cancellation_reason, revenue, proceeds, net)
  where refunded_day is not null;
drop index fact_transaction_grace;
create index fact_transaction_grace on fact_transaction (app_key, grace_day) include (
  attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration)
  where grace_day is not null;
drop index fact_transaction_billing_issue;
create index fact_transaction_billing_issue on fact_transaction (app_key, billing_issue_day) include (
  attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration)
  where billing_issue_day is not null;

create table fact_column_month (
  app_key integer not null,
  month integer not null,
  facts integer not null,
  appended integer not null default 0,
  changes integer not null default 0,
  primary key (app_key, month)
);
comment on table fact_column_month is 'Months of purchase (their first day) whose facts are kept in columns, too: those that the totals contain. Always true: column chunks + changes = what the totals have of the month.';
comment on column fact_column_month.facts is 'When the columns were made.';
comment on column fact_column_month.appended is 'Changes that were appended to the columns since.';
comment on column fact_column_month.changes is 'Rows of fact_column_change, that are not in the columns yet.';

create table fact_column_chunk (
  app_key integer not null,
  month integer not null,
  row_group integer not null,
  name text not null,
  dictionary text not null,
  codes text not null,
  primary key (app_key, month, row_group, name)
);
alter table fact_column_chunk alter column codes set storage external;
comment on table fact_column_chunk is 'A column of a group of facts: its distinct values and, for every fact, a character that says which (src/facts/column-chunk.ts).';

create table fact_column_change (sign smallint not null, like fact_transaction);
create index fact_column_change_day on fact_column_change (app_key, purchased_day);
comment on table fact_column_change is 'Images that were added to the totals (sign 1) or taken off them (-1) after the columns of their month were made.';
