-- Ten purchases of the most that one may cost add up to more than a bigint holds: the totals then stood still, and tried again for ever.

alter table fact_total
  alter revenue type numeric,
  alter proceeds type numeric,
  alter net type numeric,
  alter monthly_revenue type numeric,
  alter monthly_proceeds type numeric,
  alter monthly_net type numeric;
