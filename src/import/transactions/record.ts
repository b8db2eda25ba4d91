// A transaction record of a file: the record that is the same everywhere, and the profile that it names (analytics 1). Pure.
import { Type } from '@sinclair/typebox';
import type { FieldError } from '../../errors.ts';
import { compileCheck } from '../../http/ajv.ts';
import { parseTransaction, type TransactionRecord } from '../../purchases/record.ts';
import { TransactionBody } from '../../purchases/schema.ts';
import { type Identity, IdentityFields, identityRules, toIdentity } from '../identity.ts';

export interface NamedTransaction extends Identity {
  transaction: TransactionRecord;
}

/** For the columns of a CSV. */
export const NamedTransactionBody = Type.Object({ ...IdentityFields, ...TransactionBody.properties });

const checkIdentity = compileCheck(Type.Object(IdentityFields, { rules: identityRules }));

export function parseNamedTransaction(value: unknown): { record: NamedTransaction } | { errors: FieldError[] } {
  const parsed = parseTransaction(value);
  const errors = checkIdentity(value);
  if ('errors' in parsed) {
    const known = new Set(errors.map(({ source }) => source));
    return { errors: [...errors, ...parsed.errors.filter(({ source }) => !known.has(source))] };
  }
  if (errors.length > 0) return { errors };
  return { record: { ...toIdentity(value as object), transaction: parsed.record } };
}
