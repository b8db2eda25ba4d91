-- Totals per attribution, too: per whole label, and per value of the attributes that have few.

alter table dim_attribution
  add column status_key integer not null default 0,
  add column channel_key integer not null default 0,
  add column campaign_key integer not null default 0,
  add column source_key integer not null default 0;
comment on column dim_attribution.status_key is 'A row with the same status that stands for all of them in the totals, as channel_key, campaign_key and source_key do. Two rows may stand for one value.';

update dim_attribution d set status_key = r.least
  from (select coalesce(status, '') as value, min(attribution_key) as least from dim_attribution group by 1) r
  where coalesce(d.status, '') = r.value;
update dim_attribution d set channel_key = r.least
  from (select coalesce(channel, '') as value, min(attribution_key) as least from dim_attribution group by 1) r
  where coalesce(d.channel, '') = r.value;
update dim_attribution d set campaign_key = r.least
  from (select coalesce(campaign, '') as value, min(attribution_key) as least from dim_attribution group by 1) r
  where coalesce(d.campaign, '') = r.value;
update dim_attribution d set source_key = r.least
  from (select coalesce(source, '') as value, min(attribution_key) as least from dim_attribution group by 1) r
  where coalesce(d.source, '') = r.value;

create index dim_attribution_status on dim_attribution (attribution_key) where status_key = attribution_key;
create index dim_attribution_channel on dim_attribution (attribution_key) where channel_key = attribution_key;
create index dim_attribution_campaign on dim_attribution (attribution_key) where campaign_key = attribution_key;
create index dim_attribution_source on dim_attribution (attribution_key) where source_key = attribution_key;

-- All totals are made anew.
truncate fact_total, fact_retired;
insert into fact_pending (app_key, profile_id, purchase_no)
  select app_key, profile_id, purchase_no from fact_transaction order by 1, 2, 3
  on conflict do nothing;
