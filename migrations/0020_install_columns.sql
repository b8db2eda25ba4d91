-- A columnar copy of the installs, per month, as of the facts (0014): charts of installs and those that divide by them read a year of them.

create table install_column_month (
  app_key integer not null,
  month integer not null,
  installs integer not null,
  appended integer not null default 0,
  primary key (app_key, month)
);
comment on table install_column_month is 'Months (their first day) whose installs are kept in columns, too. Always true: column chunks + changes = the installs of the month.';
comment on column install_column_month.installs is 'When the columns were made.';
comment on column install_column_month.appended is 'Changes that were appended to the columns since.';

create table install_column_chunk (like fact_column_chunk including all);
comment on table install_column_chunk is 'A column of a group of installs, as in fact_column_chunk.';

create table install_column_change (sign smallint not null, like fact_install);
create index install_column_change_day on install_column_change (app_key, installed_day);
comment on table install_column_change is 'Images of installs that were written (sign 1) or as they were before (-1). Until they are in columns, or have shown that their month needs none.';

-- One of every month makes the background look at it.
insert into install_column_change
select distinct on (app_key, first_of_month(installed_day)) 1, f.* from fact_install f order by app_key, first_of_month(installed_day);
