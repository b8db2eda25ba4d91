-- Facts and installs by column, per month, for questions that no total answers.

create table fact_column_month (
  app_key integer not null,
  month integer not null,
  facts integer not null,
  appended integer not null default 0,
  changes integer not null default 0,
  primary key (app_key, month)
);
comment on table fact_column_month is 'Months of purchase (first day) whose totalled facts are kept in columns, too. Invariant: column chunks + changes = what the totals have for the month.';
comment on column fact_column_month.facts is 'Number of facts when the columns were written.';
comment on column fact_column_month.appended is 'Number of changes appended to the columns since then.';
comment on column fact_column_month.changes is 'Number of rows in fact_column_change that the columns do not contain yet.';

create table fact_column_chunk (
  app_key integer not null,
  month integer not null,
  row_group integer not null,
  name text not null,
  dictionary text not null,
  codes text not null,
  primary key (app_key, month, row_group, name)
);
alter table fact_column_chunk alter column codes set storage external;
comment on table fact_column_chunk is 'One column of a group of facts: its distinct values and, for every fact, a character that says which of them (src/facts/column-chunk.ts).';

create table fact_column_change (sign smallint not null, like fact_transaction) with (vacuum_index_cleanup = on);
create index fact_column_change_day on fact_column_change (app_key, purchased_day);
comment on table fact_column_change is 'Images that were added to the totals (sign 1) or taken off them (-1) after the columns of their month were written.';

create table install_column_month (
  app_key integer not null,
  month integer not null,
  installs integer not null,
  appended integer not null default 0,
  primary key (app_key, month)
);
comment on table install_column_month is 'Months (first day) whose installs are kept in columns, too. Invariant: column chunks + changes = the installs of the month.';
comment on column install_column_month.installs is 'Number of installs when the columns were written.';
comment on column install_column_month.appended is 'Number of changes appended to the columns since then.';

create table install_column_chunk (like fact_column_chunk including all);
comment on table install_column_chunk is 'One column of a group of installs, as in fact_column_chunk.';

create table install_column_change (sign smallint not null, like fact_install) with (vacuum_index_cleanup = on);
create index install_column_change_day on install_column_change (app_key, installed_day);
comment on table install_column_change is 'Images of installs as they were written (sign 1) or as they were before (-1). Kept until the columns contain them or their month turns out to need no columns.';
