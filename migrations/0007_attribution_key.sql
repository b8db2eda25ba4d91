-- Rows of dim_attribution are never changed or deleted, so the key guards against nothing, and it costs: every changed attribution
-- locked the row of its label, which half of all profiles share (a fifth of the whole statement, and a multixact where two met).
alter table profile_attribution drop constraint profile_attribution_attribution_key_fkey;
