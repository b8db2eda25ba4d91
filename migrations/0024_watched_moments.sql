-- Time alone changes what a purchase gives more often than by a lapse: a period that was set ahead begins, a grace period begins.

alter table lapse_watch add column retry_at timestamptz;
comment on table lapse_watch is 'The next moment at which time alone changes what a purchase gives: it begins, its grace period begins, or it ends. Written for chains that set transaction has touched, so that imported history tells nothing; gone once webhooks are told of the end.';
comment on column lapse_watch.check_at is 'That moment as far as was known; the chain is looked at again before anything is told.';
comment on column lapse_watch.retry_at is 'When it is tried again, if it was due and could not be told.';
