-- What an operator configures: apps, their keys, access levels, products, stores, currency rates.

create table app (
  app_id uuid primary key default gen_random_uuid(),
  app_key integer generated always as identity unique,
  name text not null check (length(name) between 1 and 255),
  timezone text not null default 'UTC',
  profile_shape text not null default 'dictionary' check (profile_shape in ('dictionary', 'array')),
  attribution_policy text not null default 'last' check (attribution_policy in ('last', 'first')),
  sharing text not null default 'refuse' check (sharing in ('refuse', 'transfer')),
  created_at timestamptz not null default now()
);
comment on table app is 'An app of the company. Every other row belongs to exactly one app, except currency rates and the dimensions of facts, which all apps share.';
comment on column app.app_key is 'Short key of the app for the fact tables, which are kept narrow.';
comment on column app.timezone is 'Reporting time zone (IANA name). The day numbers in the fact tables are days in this zone.';
comment on column app.profile_shape is 'How profile objects are rendered: dictionaries (interface 2.2) or the arrays of the sample response.';
comment on column app.attribution_policy is 'last: a new attribution record replaces the old one; first: the first one is kept.';
comment on column app.sharing is 'What happens when a transaction of a chain arrives for another living profile: refuse it, or transfer the chain.';

create table api_key (
  key_id uuid primary key default gen_random_uuid(),
  app_id uuid not null references app,
  kind text not null check (kind in ('public', 'secret')),
  scope text not null default 'all' check (scope in ('all', 'analytics')),
  prefix text not null unique,
  sha256 bytea not null check (length(sha256) = 32),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_key_app on api_key (app_id, created_at);
comment on table api_key is 'API keys of an app. Only the prefix is stored in clear; the whole key was shown once, when it was issued.';
comment on column api_key.scope is 'all, or analytics (charts and the event feed only).';
comment on column api_key.prefix is 'The part before the dot: public_live_ or secret_live_ and 8 characters.';
comment on column api_key.sha256 is 'SHA-256 of the whole key.';

create table access_level (
  app_id uuid not null references app,
  access_level_id text not null check (length(access_level_id) between 1 and 255),
  created_at timestamptz not null default now(),
  primary key (app_id, access_level_id)
);
comment on table access_level is 'Paid access levels that the app has configured.';

create table product (
  app_id uuid not null references app,
  store text not null check (length(store) between 1 and 50),
  store_product_id text not null check (length(store_product_id) between 1 and 255),
  duration text not null check (duration in
    ('Uncategorized', 'Weekly', 'Monthly', '2 months', '3 months', '6 months', 'Annual', 'Lifetime')),
  access_level_id text,
  is_consumable boolean not null default false,
  primary key (app_id, store, store_product_id),
  foreign key (app_id, access_level_id) references access_level
);
comment on table product is 'Products that the app has configured. Transactions of other products are kept and counted, but open no access level.';
comment on column product.access_level_id is 'The access level that purchases of the product open; null for none.';

create table store_setting (
  app_id uuid not null references app,
  store text not null check (length(store) between 1 and 50),
  commission numeric check (commission between 0 and 1),
  title text check (length(title) between 1 and 100),
  primary key (app_id, store)
);
comment on table store_setting is 'Settings of a store, per app: its commission (a fraction; null is the default) and its title in charts.';

create table currency_rate (
  rate_date date not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  usd_per_unit numeric not null check (usd_per_unit > 0),
  primary key (currency, rate_date)
);
comment on table currency_rate is 'US dollars per unit of a currency, by UTC day; shared by all apps.';
