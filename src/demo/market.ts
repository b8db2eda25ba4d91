// Where the demo's people come from and what they can buy. Weights are relative; prices are in USD, before local
// rounding. Pure.
import type { NewProduct } from '../apps/catalogue.ts';

export const COUNTRIES = [
  { weight: 38, country: 'US', currency: 'USD', perUsd: 1, decimals: 2, level: 1, tax: 0 },
  { weight: 11, country: 'GB', currency: 'GBP', perUsd: 0.79, decimals: 2, level: 1, tax: 0.2 },
  { weight: 10, country: 'DE', currency: 'EUR', perUsd: 0.92, decimals: 2, level: 1, tax: 0.19 },
  { weight: 7, country: 'FR', currency: 'EUR', perUsd: 0.92, decimals: 2, level: 0.95, tax: 0.2 },
  { weight: 7, country: 'JP', currency: 'JPY', perUsd: 150, decimals: 0, level: 0.9, tax: 0.1 },
  { weight: 6, country: 'BR', currency: 'BRL', perUsd: 5.4, decimals: 2, level: 0.5, tax: 0 },
  { weight: 5, country: 'IN', currency: 'INR', perUsd: 84, decimals: 0, level: 0.3, tax: 0.18 },
  { weight: 4, country: 'CA', currency: 'CAD', perUsd: 1.37, decimals: 2, level: 1, tax: 0 },
  { weight: 4, country: 'AU', currency: 'AUD', perUsd: 1.52, decimals: 2, level: 1, tax: 0.1 },
  { weight: 3, country: 'ES', currency: 'EUR', perUsd: 0.92, decimals: 2, level: 0.9, tax: 0.21 },
  { weight: 3, country: 'MX', currency: 'MXN', perUsd: 18.2, decimals: 0, level: 0.5, tax: 0.16 },
  { weight: 2, country: 'NP', currency: 'USD', perUsd: 1, decimals: 2, level: 0.3, tax: 0 },
] as const;

export const STORES = [
  { weight: 60, store: 'app_store', commission: 0.3 },
  { weight: 30, store: 'play_store', commission: 0.3 },
  { weight: 10, store: 'stripe', commission: 0 },
] as const;

/** `retention` is the chance that a paid period is followed by another. */
export const PLANS = [
  { weight: 20, id: 'premium_weekly', duration: 'Weekly', months: 0, days: 7, usd: 4.99, retention: 0.8, trial: 0.3 },
  {
    weight: 50,
    id: 'premium_monthly',
    duration: 'Monthly',
    months: 1,
    days: 0,
    usd: 9.99,
    retention: 0.84,
    trial: 0.5,
  },
  {
    weight: 30,
    id: 'premium_annual',
    duration: 'Annual',
    months: 12,
    days: 0,
    usd: 59.99,
    retention: 0.55,
    trial: 0.8,
  },
] as const;

export const COINS = { id: 'coins_100', usd: 1.99 };
export const LIFETIME = { id: 'premium_lifetime', usd: 149.99 };

export const PAYWALLS = [
  { weight: 60, paywall_id: 'summer_offer', placement_id: 'onboarding', variation_id: 'a' },
  { weight: 25, paywall_id: 'summer_offer_short', placement_id: 'onboarding', variation_id: 'b' },
  { weight: 15, paywall_id: 'default', placement_id: 'settings', variation_id: null },
] as const;

export const SOURCES = [
  { weight: 45, status: 'organic', channel: null, campaigns: [] },
  { weight: 20, status: 'non_organic', channel: 'social', campaigns: ['spring', 'look_alike', 'retarget'] },
  { weight: 15, status: 'non_organic', channel: 'search', campaigns: ['brand', 'generic'] },
  { weight: 8, status: 'non_organic', channel: 'video', campaigns: ['teaser', 'long_cut'] },
  { weight: 4, status: 'non_organic', channel: 'newsletter', campaigns: ['weekly_tips'] },
  { weight: 8, status: 'unknown', channel: null, campaigns: [] },
] as const;

export type Country = (typeof COUNTRIES)[number];
export type Store = (typeof STORES)[number];
export type Plan = (typeof PLANS)[number];

/** The products that the demo's app configures. */
export const PRODUCTS: readonly NewProduct[] = STORES.flatMap(({ store }) => [
  ...PLANS.map(({ id, duration }) => ({ store, store_product_id: id, duration, access_level_id: 'premium' })),
  { store, store_product_id: LIFETIME.id, duration: 'Lifetime', access_level_id: 'premium' },
  { store, store_product_id: COINS.id, duration: 'Lifetime', is_consumable: true },
]);
