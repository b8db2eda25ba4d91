// A transaction record of a file: the common record and the profile that it names (analytics.md 1). Pure.
import { Type } from '@sinclair/typebox';
import type { FieldError } from '../../errors.ts';
import { compileCheck } from '../../http/ajv.ts';
import type { ProfileIdentity } from '../../profile/identity.ts';
import { parseTransaction, type TransactionRecord } from '../../purchases/record.ts';
import { TransactionBody } from '../../purchases/schema.ts';
import { IdentityFields, identityRules, toIdentity } from '../identity.ts';

export interface NamedTransaction extends ProfileIdentity {
  /** The name of its chain. */
  chain: string;
  transaction: TransactionRecord;
}

/** The schema from which the columns of a CSV are derived. */
export const NamedTransactionBody = Type.Object({ ...IdentityFields, ...TransactionBody.properties });

const checkIdentity = compileCheck(Type.Object(IdentityFields, { rules: identityRules }));

/** The length keeps names distinct, because a store may be any text. */
export function chainName({
  store,
  store_original_transaction_id,
}: Pick<TransactionRecord, 'store' | 'store_original_transaction_id'>): string {
  return `${store.length} ${store} ${store_original_transaction_id}`;
}

export function parseNamedTransaction(value: unknown): { record: NamedTransaction } | { errors: FieldError[] } {
  const parsed = parseTransaction(value);
  const errors = checkIdentity(value);
  if ('errors' in parsed) {
    const known = new Set(errors.map(({ source }) => source));
    return { errors: [...errors, ...parsed.errors.filter(({ source }) => !known.has(source))] };
  }
  if (errors.length > 0) return { errors };
  const { record: transaction } = parsed;
  return { record: { chain: chainName(transaction), transaction, ...toIdentity(value as object) } };
}
