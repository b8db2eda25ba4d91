-- Columns have the quarter of an hour of each moment, for questions in other zones than the app's. They are made anew.

truncate fact_column_month, fact_column_chunk, fact_column_change, install_column_month, install_column_chunk, install_column_change;

-- One of every month makes the background look at it.
insert into install_column_change
select distinct on (app_key, first_of_month(installed_day)) 1, f.* from fact_install f order by app_key, first_of_month(installed_day);
