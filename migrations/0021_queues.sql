-- Tables that fill and empty: what waits for the background. After an import of millions they keep many empty pages, and of such a table
-- vacuum leaves the index entries of deleted rows where fewer than 2 % of the pages have any. Each look at what waits then passes them all
-- (seen: 126,599 of fact_pending, 260 ms per chart).

alter table fact_pending set (vacuum_index_cleanup = on);
alter table fact_retired set (vacuum_index_cleanup = on);
alter table fact_moved set (vacuum_index_cleanup = on);
alter table fact_column_change set (vacuum_index_cleanup = on);
alter table install_column_change set (vacuum_index_cleanup = on);
alter table label_pending set (vacuum_index_cleanup = on);
