-- revenue by country
with entry as (select 'entries' as side, 0 as span, bucket, key, "a0", "a1", "a2"
from (select bucket, key, sum("a0") * 1 as "a0", sum("a1") * 1 as "a1", sum("a2") * 1 as "a2"
from (select r.bucket, t.key as key, sum("t"."n_priced") * 1 as n , sum("t"."revenue") * 1 as "a0" , sum("t"."proceeds") * 1 as "a1" , sum("t"."net") * 1 as "a2"
from unnest($1::integer[],
$2::smallint[],
$3::integer[], $4::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $5 and t.grain = r.grain and t.home = 1
and t.moment = 0
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
group by 1, 2
union all select width_bucket("f"."purchased_day", $6::integer[]) as bucket, "f"."country_key"::integer as key, sum(1 * 1) as n , sum("f"."revenue" * 1 * 1) as "a0" , sum("f"."proceeds" * 1 * 1) as "a1" , sum("f"."net" * 1 * 1) as "a2"
from "fact_transaction" f
where f.app_key = $7 and f.revenue > 0 and "f"."purchased_day" < $8::integer and "f"."purchased_at" <= $9::timestamptz and "f"."purchased_day" >= $10::integer and "f"."purchased_day" >= 20254
group by 1, 2 ) p
group by 1, 2 having sum(n) <> 0) r
union all select 'entries' as side, 0 as span, bucket, key, "a0", "a1", "a2"
from (select bucket, key, sum("a0") * -1 as "a0", sum("a1") * -1 as "a1", sum("a2") * -1 as "a2"
from (select r.bucket, t.key as key, sum("t"."n_priced") * 1 as n , sum("t"."revenue") * 1 as "a0" , sum("t"."proceeds") * 1 as "a1" , sum("t"."net") * 1 as "a2"
from unnest($11::integer[],
$12::smallint[],
$13::integer[], $14::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $15 and t.grain = r.grain and t.home = 1
and t.moment = 3
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
group by 1, 2
union all select width_bucket("f"."refunded_day", $16::integer[]) as bucket, "f"."country_key"::integer as key, sum(1 * 1) as n , sum("f"."revenue" * 1 * 1) as "a0" , sum("f"."proceeds" * 1 * 1) as "a1" , sum("f"."net" * 1 * 1) as "a2"
from "fact_transaction" f
where f.app_key = $17 and f.revenue > 0 and "f"."refunded_day" < $18::integer and "f"."refunded_at" <= $19::timestamptz and "f"."refunded_day" >= $20::integer and "f"."refunded_day" >= 20254
group by 1, 2 ) p
group by 1, 2 having sum(n) <> 0) r), cell as materialized (
select side, span, bucket, d.value as segment, sum("a0") as "a0", sum("a1") as "a1", sum("a2") as "a2"
from entry e
left join (select "country_key" as key, coalesce("country", '') as value
from "dim_country") d on d.key = e.key
group by 1, 2, 3, 4), divided as (select segment, coalesce(sum(a0) filter (where side = 'entries' and span = 0), 0) as value,
1 as per
from cell
where segment is not null
group by segment), ranked as materialized (select segment,
count(*) over () < $21 or row_number() over (
order by round(coalesce(value / nullif(divided.per, 0), 0) / 1000.0) desc,
segment collate "C") <= $22 as kept
from divided ) select 'total' as place, '' as segment, side, span, bucket, array[sum("a0"), sum("a1"), sum("a2")]::text[] as sums
from cell
group by side, span, bucket
union all select place, segment, side, span, bucket, array[sum("a0"), sum("a1"), sum("a2")]::text[]
from (select case when kept then 'segment' else 'other' end as place, case when kept then segment else '' end as segment, side, span, bucket, "a0", "a1", "a2"
from cell
join ranked using (segment)) c
group by place, segment, side, span, bucket;

-- active subscriptions by attribution status
with entry as (select 'entries' as side, 0 as span, bucket, key, "a0"
from (select bucket, key, "n" * 1 as a0
from (
select *, bool_or(open <> 0) over (partition by key) as is_seen
from (
select *, sum(n) over (partition by key
order by bucket) as open
from (select bucket, key, sum("n") as "n"
from (select r.bucket, t.key as key, sum("t"."n_kept") * 1 as n
from unnest($1::integer[],
$2::smallint[],
$3::integer[], $4::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $5 and t.grain = r.grain and t.home = 11
and t.moment = 0
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
group by 1, 2
union all select r.bucket, t.key as key, sum("t"."n_kept") * -1 as n
from unnest($6::integer[],
$7::smallint[],
$8::integer[], $9::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $10 and t.grain = r.grain and t.home = 11
and t.moment = 1
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
group by 1, 2
union all select bucket, key, n
from unnest($11::integer[], $12::integer[], $13::bigint[]
) as remembered (bucket, key, n )
union all select greatest(width_bucket("f"."purchased_day", $14::integer[]), 1) as bucket, "label"."status_key" as key, sum(1 * 1) as n
from "fact_transaction" f
left join (with computed as materialized (
select w.profile_id, w.attribution_key
from unnest($15::bigint[]) as requested (queue_no)
join label_pending w on w.app_key = $16 and w.queue_no = requested.queue_no) select *
from computed) pending on pending.profile_id = f.profile_id
left join dim_attribution label on label.attribution_key = coalesce(pending.attribution_key, f.attribution_key)::integer
where f.app_key = $17 and f.period between 1 and 7 and (f.refunded_at is null or f.refunded_at > $18::timestamptz) and "f"."purchased_day" < $19::integer and "f"."purchased_at" <= $20::timestamptz and "f"."purchased_at" < $21::timestamptz and "f"."purchased_day" >= 20254 and f.refunded_at is null
group by 1, 2
union all select greatest(width_bucket("f"."active_until_day", $22::integer[]), 1) as bucket, "label"."status_key" as key, sum(1 * -1) as n
from "fact_transaction" f
left join (with computed as materialized (
select w.profile_id, w.attribution_key
from unnest($23::bigint[]) as requested (queue_no)
join label_pending w on w.app_key = $24 and w.queue_no = requested.queue_no) select *
from computed) pending on pending.profile_id = f.profile_id
left join dim_attribution label on label.attribution_key = coalesce(pending.attribution_key, f.attribution_key)::integer
where f.app_key = $25 and f.period between 1 and 7 and (f.refunded_at is null or f.refunded_at > $26::timestamptz) and "f"."active_until_day" < $27::integer and "f"."active_until" <= $28::timestamptz and "f"."active_until" < $29::timestamptz and "f"."active_until_day" >= 20254 and f.refunded_at is null
group by 1, 2 ) p
group by 1, 2) q
) r
) s
where is_seen) r), cell as materialized (
select side, span, bucket, d.value as segment, sum("a0") as "a0"
from entry e
left join (select "attribution_key" as key, coalesce("status", '') as value
from "dim_attribution") d on d.key = e.key
group by 1, 2, 3, 4), divided as (select segment, coalesce(sum(a0) filter (where side = 'entries' and span = 0), 0) as value,
1 as per
from cell
where segment is not null
group by segment), ranked as materialized (select segment,
count(*) over () < $30 or row_number() over (
order by round(coalesce(value / nullif(divided.per, 0), 0) / 1) desc,
segment collate "C") <= $31 as kept
from divided ) select 'total' as place, '' as segment, side, span, bucket, array[sum("a0")]::text[] as sums
from cell
group by side, span, bucket
union all select place, segment, side, span, bucket, array[sum("a0")]::text[]
from (select case when kept then 'segment' else 'other' end as place, case when kept then segment else '' end as segment, side, span, bucket, "a0"
from cell
join ranked using (segment)) c
group by place, segment, side, span, bucket;

-- mrr in one store, compared
with entry as (select 'entries' as side, 0 as span, bucket, key, "a0", "a1", "a2"
from (select bucket, key, "a0" * 1 as "a0", "a1" * 1 as "a1", "a2" * 1 as "a2"
from (
select *, bool_or(open <> 0) over (partition by key) as is_seen
from (
select *, sum(n) over (partition by key
order by bucket) as open
from (select bucket, key, sum("n") as "n", sum("a0") as "a0", sum("a1") as "a1", sum("a2") as "a2"
from (select r.bucket, null::integer as key, sum("t"."n_monthly") * 1 as n , sum("t"."monthly_revenue") * 1 as "a0" , sum("t"."monthly_proceeds") * 1 as "a1" , sum("t"."monthly_net") * 1 as "a2"
from unnest($1::integer[],
$2::smallint[],
$3::integer[], $4::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $5 and t.grain = r.grain and t.home = 2
and t.moment = 0
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
where case when t.key = any($6::integer[]) then true end
group by 1, 2
union all select r.bucket, null::integer as key, sum("t"."n_monthly") * -1 as n , sum("t"."monthly_revenue") * -1 as "a0" , sum("t"."monthly_proceeds") * -1 as "a1" , sum("t"."monthly_net") * -1 as "a2"
from unnest($7::integer[],
$8::smallint[],
$9::integer[], $10::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $11 and t.grain = r.grain and t.home = 2
and t.moment = 1
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
where case when t.key = any($12::integer[]) then true end
group by 1, 2
union all select greatest(width_bucket("f"."purchased_day", $13::integer[]), 1) as bucket, null::integer as key, sum(1 * 1) as n , sum("f"."monthly_revenue" * 1 * 1) as "a0" , sum("f"."monthly_proceeds" * 1 * 1) as "a1" , sum("f"."monthly_net" * 1 * 1) as "a2"
from "fact_transaction" f
where f.app_key = $14 and f.period between 1 and 7 and (f.refunded_at is null or f.refunded_at > $15::timestamptz) and f.monthly_revenue is not null and case when "f"."store_key" = any($16::integer[]) then true end and "f"."purchased_day" < $17::integer and "f"."purchased_at" <= $18::timestamptz and "f"."purchased_at" < $19::timestamptz and "f"."purchased_day" >= 20254 and f.refunded_at is null
group by 1, 2
union all select greatest(width_bucket("f"."active_until_day", $20::integer[]), 1) as bucket, null::integer as key, sum(1 * -1) as n , sum("f"."monthly_revenue" * 1 * -1) as "a0" , sum("f"."monthly_proceeds" * 1 * -1) as "a1" , sum("f"."monthly_net" * 1 * -1) as "a2"
from "fact_transaction" f
where f.app_key = $21 and f.period between 1 and 7 and (f.refunded_at is null or f.refunded_at > $22::timestamptz) and f.monthly_revenue is not null and case when "f"."store_key" = any($23::integer[]) then true end and "f"."active_until_day" < $24::integer and "f"."active_until" <= $25::timestamptz and "f"."active_until" < $26::timestamptz and "f"."active_until_day" >= 20254 and f.refunded_at is null
group by 1, 2 ) p
group by 1, 2) q
) r
) s
where is_seen) r
union all select 'entries' as side, 1 as span, bucket, key, "a0", "a1", "a2"
from (select bucket, key, "a0" * 1 as "a0", "a1" * 1 as "a1", "a2" * 1 as "a2"
from (
select *, bool_or(open <> 0) over (partition by key) as is_seen
from (
select *, sum(n) over (partition by key
order by bucket) as open
from (select bucket, key, sum("n") as "n", sum("a0") as "a0", sum("a1") as "a1", sum("a2") as "a2"
from (select r.bucket, null::integer as key, sum("t"."n_monthly") * 1 as n , sum("t"."monthly_revenue") * 1 as "a0" , sum("t"."monthly_proceeds") * 1 as "a1" , sum("t"."monthly_net") * 1 as "a2"
from unnest($27::integer[],
$28::smallint[],
$29::integer[], $30::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $31 and t.grain = r.grain and t.home = 2
and t.moment = 0
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
where case when t.key = any($32::integer[]) then true end
group by 1, 2
union all select r.bucket, null::integer as key, sum("t"."n_monthly") * -1 as n , sum("t"."monthly_revenue") * -1 as "a0" , sum("t"."monthly_proceeds") * -1 as "a1" , sum("t"."monthly_net") * -1 as "a2"
from unnest($33::integer[],
$34::smallint[],
$35::integer[], $36::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $37 and t.grain = r.grain and t.home = 2
and t.moment = 1
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
where case when t.key = any($38::integer[]) then true end
group by 1, 2) p
group by 1, 2) q
) r
) s
where is_seen) r), cell as materialized (
select side, span, bucket, null::text as segment, sum("a0") as "a0", sum("a1") as "a1", sum("a2") as "a2"
from entry e
group by 1, 2, 3, 4) select 'total' as place, '' as segment, side, span, bucket, array[sum("a0"), sum("a1"), sum("a2")]::text[] as sums
from cell
group by side, span, bucket;

-- arpu of those installed, in Tokyo
with entry as (select 'entries' as side, 0 as span, bucket, key, "a0", "a1", "a2"
from (select width_bucket("f"."installed_at", $1::timestamptz[]) as bucket, null::integer as key, sum("f"."revenue") * 1 as "a0", sum("f"."proceeds") * 1 as "a1", sum("f"."net") * 1 as "a2"
from "fact_transaction" f
where f.app_key = $2 and f.revenue > 0 and f.profile_id in (
select f.profile_id
from fact_install f
where f.app_key = $3 and "f"."installed_day" >= 20178 and case when "f"."installed_at" >= $4::timestamptz then true end and "f"."installed_day" < 20270 and case when "f"."installed_at" < $5::timestamptz then true end and "f"."installed_at" <= $6::timestamptz) and "f"."purchased_at" <= $7::timestamptz
group by 1, 2) r
union all select 'entries' as side, 0 as span, bucket, key, "a0", "a1", "a2"
from (select width_bucket("f"."installed_at", $8::timestamptz[]) as bucket, null::integer as key, sum("f"."revenue") * -1 as "a0", sum("f"."proceeds") * -1 as "a1", sum("f"."net") * -1 as "a2"
from "fact_transaction" f
where f.app_key = $9 and f.revenue > 0 and f.profile_id in (
select f.profile_id
from fact_install f
where f.app_key = $10 and "f"."installed_day" >= 20178 and case when "f"."installed_at" >= $11::timestamptz then true end and "f"."installed_day" < 20270 and case when "f"."installed_at" < $12::timestamptz then true end and "f"."installed_at" <= $13::timestamptz) and "f"."refunded_at" <= $14::timestamptz
group by 1, 2) r
union all select 'per' as side, 0 as span, bucket, key, a0, 0, 0
from (select bucket, key, sum("n") * 1 as a0
from (select width_bucket("f"."installed_day", $15::integer[]) as bucket, null::integer as key, sum(1 * 1) as n
from "fact_install" f
where f.app_key = $16 and "f"."installed_day" < $17::integer and "f"."installed_day" >= $18::integer and "f"."installed_day" < 20254 and ("f"."installed_day" = any($19::integer[])) is not true
group by 1, 2
union all select width_bucket("f"."installed_at", $20::timestamptz[]) as bucket, null::integer as key, sum(1 * 1) as n
from "fact_install" f
where f.app_key = $21 and "f"."installed_day" < 20270 and case when "f"."installed_at" < $22::timestamptz then true end and "f"."installed_at" <= $23::timestamptz and "f"."installed_day" >= 20178 and case when "f"."installed_at" >= $24::timestamptz then true end and ("f"."installed_day" >= 20254 or "f"."installed_day" = any($25::integer[]))
group by 1, 2 ) p
group by 1, 2 having sum(n) <> 0) r), cell as materialized (
select side, span, bucket, null::text as segment, sum("a0") as "a0", sum("a1") as "a1", sum("a2") as "a2"
from entry e
group by 1, 2, 3, 4) select 'total' as place, '' as segment, side, span, bucket, array[sum("a0"), sum("a1"), sum("a2")]::text[] as sums
from cell
group by side, span, bucket;

-- arppu by product
with entry as (select 'entries' as side, 0 as span, bucket, key, "a0", "a1", "a2"
from (select bucket, key, sum("a0") * 1 as "a0", sum("a1") * 1 as "a1", sum("a2") * 1 as "a2"
from (select r.bucket, t.key as key, sum("t"."n_priced") * 1 as n , sum("t"."revenue") * 1 as "a0" , sum("t"."proceeds") * 1 as "a1" , sum("t"."net") * 1 as "a2"
from unnest($1::integer[],
$2::smallint[],
$3::integer[], $4::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $5 and t.grain = r.grain and t.home = 3
and t.moment = 0
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
group by 1, 2
union all select width_bucket("f"."purchased_day", $6::integer[]) as bucket, "f"."product_key"::integer as key, sum(1 * 1) as n , sum("f"."revenue" * 1 * 1) as "a0" , sum("f"."proceeds" * 1 * 1) as "a1" , sum("f"."net" * 1 * 1) as "a2"
from "fact_transaction" f
where f.app_key = $7 and f.revenue > 0 and "f"."purchased_day" < $8::integer and "f"."purchased_at" <= $9::timestamptz and "f"."purchased_day" >= $10::integer and "f"."purchased_day" >= 20254
group by 1, 2 ) p
group by 1, 2 having sum(n) <> 0) r
union all select 'entries' as side, 0 as span, bucket, key, "a0", "a1", "a2"
from (select bucket, key, sum("a0") * -1 as "a0", sum("a1") * -1 as "a1", sum("a2") * -1 as "a2"
from (select r.bucket, t.key as key, sum("t"."n_priced") * 1 as n , sum("t"."revenue") * 1 as "a0" , sum("t"."proceeds") * 1 as "a1" , sum("t"."net") * 1 as "a2"
from unnest($11::integer[],
$12::smallint[],
$13::integer[], $14::integer[])
as r (bucket, grain, since, until)
cross join lateral (
select *
from fact_total t
where t.app_key = $15 and t.grain = r.grain and t.home = 3
and t.moment = 3
and t.day >= r.since and t.day < r.until
-- Prevents a hash join, which would compare every range with the days of all years.
offset 0
) t
group by 1, 2
union all select width_bucket("f"."refunded_day", $16::integer[]) as bucket, "f"."product_key"::integer as key, sum(1 * 1) as n , sum("f"."revenue" * 1 * 1) as "a0" , sum("f"."proceeds" * 1 * 1) as "a1" , sum("f"."net" * 1 * 1) as "a2"
from "fact_transaction" f
where f.app_key = $17 and f.revenue > 0 and "f"."refunded_day" < $18::integer and "f"."refunded_at" <= $19::timestamptz and "f"."refunded_day" >= $20::integer and "f"."refunded_day" >= 20254
group by 1, 2 ) p
group by 1, 2 having sum(n) <> 0) r), cell as materialized (
select side, span, bucket, d.value as segment, sum("a0") as "a0", sum("a1") as "a1", sum("a2") as "a2"
from entry e
left join (select "product_key" as key, coalesce("store_product_id", '') as value
from "dim_product") d on d.key = e.key
group by 1, 2, 3, 4), payer as materialized (
select distinct span, bucket, d.value as segment, profile_id
from (select 0 as span, p.*
from (select distinct width_bucket("f"."purchased_day", $21::integer[]) as bucket, "f"."product_key"::integer as key, f.profile_id
from "fact_transaction" f
where f.app_key = $22 and f.revenue > 0 and "f"."purchased_day" >= $23::integer and "f"."purchased_day" < $24::integer and "f"."purchased_at" <= $25::timestamptz) p) e
left join (select "product_key" as key, coalesce("store_product_id", '') as value
from "dim_product") d on d.key = e.key), paying as materialized (select segment, count(distinct profile_id) as per
from payer
where span = 0
group by segment), divided as (select segment, coalesce(sum(a0) filter (where side = 'entries' and span = 0), 0) as value,
1 as per
from cell
where segment is not null
group by segment), ranked as materialized (select segment,
count(*) over () < $26 or row_number() over (
order by round(coalesce(value / nullif(paying.per, 0), 0) / 1000.0) desc,
segment collate "C") <= $27 as kept
from divided
left join paying using (segment)) select 'total' as place, '' as segment, side, span, bucket, array[sum("a0"), sum("a1"), sum("a2")]::text[] as sums
from cell
group by side, span, bucket
union all select 'total', '', 'per', span, bucket, array[count(distinct profile_id)]::text[]
from payer
group by grouping sets ((span, bucket), (span))
union all select place, segment, side, span, bucket, array[sum("a0"), sum("a1"), sum("a2")]::text[]
from (select case when kept then 'segment' else 'other' end as place, case when kept then segment else '' end as segment, side, span, bucket, "a0", "a1", "a2"
from cell
join ranked using (segment)) c
group by place, segment, side, span, bucket
union all select place, segment, 'per', span, bucket, array[count(distinct profile_id)]::text[]
from (select case when kept then 'segment' else 'other' end as place, case when kept then segment else '' end as segment, span, bucket, profile_id
from payer
join ranked using (segment)) p
group by grouping sets ((place, segment, span, bucket), (place, segment, span));
