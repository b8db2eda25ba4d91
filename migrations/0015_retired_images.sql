-- An image that is to be taken off the totals is found by its fact, so that both go into one batch and what did not change cancels out.

drop index fact_retired_app;
create index fact_retired_fact on fact_retired (app_key, profile_id, purchase_no);
