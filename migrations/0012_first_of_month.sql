-- date_trunc() of a date takes it for a timestamptz and depends on the session, so the function was called for each fact and not inlined.
create or replace function first_of_month(day integer) returns integer
  language sql immutable parallel safe
  as $$ select date_trunc('month', (date '1970-01-01' + day)::timestamp)::date - date '1970-01-01' $$;
