-- What a kept chart answer is valid with: it stands as long as the version of the app's facts does.

create table fact_version (
  app_key integer not null,
  slot smallint not null,
  version bigint not null,
  primary key (app_key, slot)
) with (fillfactor = 50);
comment on table fact_version is 'The sum over an app''s slots grows with every committed transaction that changed what its charts show. Slots, so that writers do not wait for each other.';
