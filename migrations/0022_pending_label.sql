-- A waiting label says which it is, and which the facts still carry: charts look up the facts of such a profile, had looked up its
-- attribution record as well, and need neither where the two have the same values.

alter table label_pending add column attribution_key integer, add column earlier_key integer;
update label_pending w set attribution_key = r.attribution_key, earlier_key = f.attribution_key
from app join profile_attribution r using (app_id) join fact_install f using (app_key, profile_id)
where w.app_key = app.app_key and w.profile_id = r.profile_id;
alter table label_pending alter column attribution_key set not null, alter column earlier_key set not null;

comment on table label_pending is 'Profiles whose facts still carry an earlier label. Readers take the label from here; a background sweep re-labels the facts. Whoever writes a row here holds the lock of the attribution record.';
comment on column label_pending.attribution_key is 'That of the attribution record.';
comment on column label_pending.earlier_key is 'That of all facts of the profile.';
comment on column fact_install.attribution_key is 'The label; of a profile in label_pending, the key there holds instead.';
