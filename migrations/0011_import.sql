-- What made an import slow.

-- A fact finds its tuple here by a number that is cheap to make; tuple_hash is what makes it unique.
create function tuple_number(one text, two text, three text) returns bigint
  language sql immutable parallel safe
  as $$ select hashtextextended(coalesce(one, '') || '/' || coalesce(two, '') || '/' || coalesce(three, ''), 0) $$;
create index dim_offer_number on dim_offer (tuple_number(offer_category, offer_type, offer_id));
create index dim_placement_number on dim_placement (tuple_number(paywall_id, audience_id, placement_id));

-- A transaction is written by a join with its chain, and the profile of the chain is checked: once per chain instead of per transaction.
alter table purchase drop constraint purchase_app_id_profile_id_fkey;
