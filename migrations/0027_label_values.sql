-- A new label looks for the row that stands for its value; all values of all apps had been read for that.

drop index dim_attribution_status, dim_attribution_channel, dim_attribution_campaign, dim_attribution_source;
create index dim_attribution_status on dim_attribution ((coalesce(status, ''))) where status_key = attribution_key;
create index dim_attribution_channel on dim_attribution ((coalesce(channel, ''))) where channel_key = attribution_key;
create index dim_attribution_campaign on dim_attribution ((coalesce(campaign, ''))) where campaign_key = attribution_key;
create index dim_attribution_source on dim_attribution ((coalesce(source, ''))) where source_key = attribution_key;
