-- Charts by label look up the facts of every profile whose label waits. A process may remember them, as long as it learns where they have
-- changed since: what is pending or retired says so until it is totalled, and from then on this does.

create table label_retotalled (
  app_key integer not null,
  queue_no bigint not null,
  primary key (app_key, queue_no)
);
comment on table label_retotalled is 'Profiles in label_pending whose facts changed, and were totalled, while they waited there. Written with the totals; a row goes with that of label_pending.';
