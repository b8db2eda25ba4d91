-- Indexes that hold all that a chart sums: facts of many years are read in the order of their days, without the facts themselves.

drop index fact_transaction_purchased;
create index fact_transaction_purchased on fact_transaction (app_key, purchased_day) include (
  attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration, renewal_status,
  cancellation_reason, revenue, proceeds, net);
drop index fact_transaction_active_until;
create index fact_transaction_active_until on fact_transaction (app_key, active_until_day) include (
  purchased_day, refunded_at, attribution_key, product_key, placement_key, offer_key, store_key, country_key, period,
  duration, renewal_status, monthly_revenue, monthly_proceeds, monthly_net);
drop index fact_transaction_lapse;
create index fact_transaction_lapse on fact_transaction (app_key, lapse_day) include (
  attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration, cancellation_reason)
  where lapse_day is not null;
drop index fact_transaction_renewal_cancelled;
create index fact_transaction_renewal_cancelled on fact_transaction (app_key, renewal_cancelled_day) include (
  attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration)
  where renewal_cancelled_day is not null;
drop index fact_install_day;
create index fact_install_day on fact_install (app_key, installed_day) include (attribution_key, country_key, store_key);

-- Pages that charts can trust without looking at the facts are made by vacuum.
alter table fact_transaction set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table fact_install set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
