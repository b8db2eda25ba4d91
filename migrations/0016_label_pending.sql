-- An attribution record is updated in place: which profiles have facts under an earlier label is kept apart from it, and its pages have room.

create table label_pending (
  app_key integer not null,
  profile_id uuid not null,
  primary key (app_key, profile_id)
);
comment on table label_pending is 'Profiles whose facts still carry an earlier attribution_key. Readers take the key from profile_attribution; a background sweep re-labels the facts. Whoever writes a row here holds the lock of the attribution record.';

insert into label_pending (app_key, profile_id)
select app_key, profile_id from profile_attribution join app using (app_id) where relabel_pending;

alter table profile_attribution drop column relabel_pending;
alter table profile_attribution set (fillfactor = 85);
-- Who writes a record has locked the profile or the identity that names it, and a deletion locks the one and then the other: a check of the
-- profile alone would make the two wait for each other.
alter table profile_attribution drop constraint profile_attribution_app_id_profile_id_fkey;
comment on column fact_install.attribution_key is 'The label; for a profile in label_pending, the key of its attribution record holds instead.';
