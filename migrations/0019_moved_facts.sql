-- A new label moves a fact from one total to another and changes nothing else of it: such moves wait in a table of their own, which only
-- questions about labels look at, and are brought to the totals of labels alone.

create table fact_moved (sign smallint not null, like fact_transaction);
create index fact_moved_app on fact_moved (app_key);
comment on table fact_moved is 'Totalled facts with a new label that the totals do not know yet: the image to be added (sign 1), and that to be taken off (-1).';

comment on table fact_pending is 'Facts that the totals do not contain yet; charts read them one by one. Always true: totals + fact_moved = the facts that are not pending + fact_retired.';
