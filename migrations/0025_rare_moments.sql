-- Of moments that few facts have: whose facts they are, and the instants, beside the day. A chart by what a waiting label changes joins them by
-- their profile, and one that reaches now asks which have come; each row had been read from its page, of which hardly any is near another.

drop index fact_transaction_refunded;
create index fact_transaction_refunded on fact_transaction (app_key, refunded_day) include (
  profile_id, purchase_no, refunded_at, attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration,
  renewal_status, cancellation_reason, revenue, proceeds, net) where refunded_day is not null;

drop index fact_transaction_grace;
create index fact_transaction_grace on fact_transaction (app_key, grace_day) include (
  profile_id, purchase_no, grace_at, attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration)
  where grace_day is not null;

drop index fact_transaction_billing_issue;
create index fact_transaction_billing_issue on fact_transaction (app_key, billing_issue_day) include (
  profile_id, purchase_no, billing_issue_at, attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration)
  where billing_issue_day is not null;
