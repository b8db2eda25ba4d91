-- The number of a tuple without a text of the whole, which every imported fact had put together twice.

create or replace function tuple_number(one text, two text, three text) returns bigint
  language sql immutable parallel safe
  as $$ select hashtextextended(coalesce(three, ''), hashtextextended(coalesce(two, ''), hashtextextended(coalesce(one, ''), 0))) $$;
reindex index dim_offer_number;
reindex index dim_placement_number;
