// The profile record (analytics.md 1): as it came in → what it says, or what is wrong with it. Pure.
import { type Static, Type } from '@sinclair/typebox';
import { type Label, toLabel } from '../../attribution/label.ts';
import { AttributionFields } from '../../attribution/schema.ts';
import type { FieldError } from '../../errors.ts';
import { compileCheck, type Rules } from '../../http/ajv.ts';
import { parseOptional } from '../../lib/datetime.ts';
import { NullableText } from '../../lib/typebox.ts';
import { type AttributeChanges, attributeRules, readAttributes } from '../../profile/attributes.ts';
import { CustomAttributes, InstallFields } from '../../profile/body.ts';
import type { ProfileIdentity } from '../../profile/identity.ts';
import { IdentityFields, identityRules, toIdentity } from '../identity.ts';

const SOURCE_LENGTH = 500;

const Attribution = Type.Object({
  ...AttributionFields,
  source: Type.Optional(NullableText(SOURCE_LENGTH)),
});

const rules: Rules = (body) => [...identityRules(body), ...attributeRules(body)];

export const ProfileRecordBody = Type.Object(
  {
    ...IdentityFields,
    ...InstallFields,
    custom_attributes: CustomAttributes,
    attribution: Type.Optional(
      Type.Unsafe<Static<typeof Attribution> | null>({ ...Attribution, type: ['object', 'null'] }),
    ),
  },
  { rules },
);

export interface ProfileRecord extends ProfileIdentity {
  /** Null means absent, as in the other members. */
  installed_at: string | null;
  country: string | null;
  store: string | null;
  attributes: AttributeChanges;
  attribution: { label: Label; attribution_user_id: string | null } | null;
}

function toAttribution(given: Static<typeof Attribution>): ProfileRecord['attribution'] {
  return {
    label: toLabel(given, given.source),
    attribution_user_id: given.attribution_user_id || null,
  };
}

const check = compileCheck(ProfileRecordBody);

export function parseProfile(value: unknown): { record: ProfileRecord } | { errors: FieldError[] } {
  const errors = check(value);
  if (errors.length > 0) return { errors };
  const body = value as Static<typeof ProfileRecordBody>;
  const read = readAttributes(body.custom_attributes);
  if ('fault' in read) return { errors: [read.fault] };
  return {
    record: {
      installed_at: parseOptional(body.installed_at),
      country: body.country?.toUpperCase() ?? null,
      store: body.store ?? null,
      attributes: read.changes,
      attribution: body.attribution ? toAttribution(body.attribution) : null,
      ...toIdentity(body),
    },
  };
}
