// Small integer codes of the closed dimensions in the fact tables: the position in these lists. Append only.

export const DURATIONS = [
  'Uncategorized',
  'Weekly',
  'Monthly',
  '2 months',
  '3 months',
  '6 months',
  'Annual',
  'Lifetime',
] as const;

export const PERIODS = [
  'trial',
  'activation',
  'renewal_1',
  'renewal_2',
  'renewal_3',
  'renewal_4',
  'renewal_5',
  'renewal_6_plus',
  'one_time',
] as const;

export const RENEWAL_STATUSES = ['none', 'will_renew', 'will_not_renew'] as const;

export const CANCELLATION_REASONS = [
  'voluntarily_cancelled',
  'billing_error',
  'price_increase',
  'product_was_not_available',
  'refund',
  'upgraded',
  'new_subscription_replace',
  'cancelled_by_developer',
  'service_revoked',
  'unknown',
] as const;

/** Code 0: none. */
export const REASONS = ['', ...CANCELLATION_REASONS] as const;
