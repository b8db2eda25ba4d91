// The values of the closed dimensions for which facts have keys of dimension tables, not the codes of codes.ts. Pure.

export const ATTRIBUTION_STATUSES = ['organic', 'non_organic', 'unknown'] as const;

export const OFFER_CATEGORIES = ['introductory', 'promotional', 'offer_code', 'win_back', 'retention'] as const;

export const OFFER_TYPES = ['free_trial', 'pay_as_you_go', 'pay_up_front'] as const;

/** The maximum length of a store's name, in characters. */
export const STORE_LENGTH = 50;
