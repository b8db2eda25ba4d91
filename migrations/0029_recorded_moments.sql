-- Moments that no statement reads, for whoever looks into the tables.
comment on column purchase.recorded_at is 'For operators: when the transaction was last written with other values.';
comment on column profile.created_at is 'For operators: when the row was made; installed_at is what counts.';
