-- ARPPU counts distinct profiles: with them in the index, facts of years are not fetched one by one for it.
drop index fact_transaction_purchased;
create index fact_transaction_purchased on fact_transaction (app_key, purchased_day) include (
  profile_id, attribution_key, product_key, placement_key, offer_key, store_key, country_key, period, duration,
  renewal_status, cancellation_reason, revenue, proceeds, net);
