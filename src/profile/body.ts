// What a request may say about a profile; null means the same as absent, as everywhere.
import { type Static, Type } from '@sinclair/typebox';
import { STORE_LENGTH } from '../facts/values.ts';
import { NullableDatetime, NullableText } from '../lib/typebox.ts';
import { attributeRules, KEY_PATTERN, VALUE_LENGTH } from './attributes.ts';

/** Also part of an imported record. */
export const InstallFields = {
  installed_at: Type.Optional(
    NullableDatetime({ description: 'When the app was installed. Defaults to now for a new profile.' }),
  ),
  country: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: '^[A-Za-z]{2}$',
      description: 'Must be a 2-letter country code.',
      examples: ['US'],
    }),
  ),
  store: Type.Optional(
    NullableText(STORE_LENGTH, { minLength: 1, description: 'app_store, play_store, stripe or a custom store id.' }),
  ),
};

const ATTRIBUTE_KEY = { type: 'string', pattern: KEY_PATTERN.source };
const ATTRIBUTE_VALUE = { type: ['string', 'number', 'boolean', 'null'], maxLength: VALUE_LENGTH };

/** Also part of an imported record. */
export const CustomAttributes = Type.Optional(
  Type.Unsafe<unknown>({
    type: ['object', 'array', 'null'],
    description:
      'A dictionary, or an array of {key, value}. Sets the attributes given and keeps the rest; an empty value or null deletes one. ' +
      'At most 30 attributes. A key has at most 30 letters, digits, dashes, points and underscores; a value is a number or a string of at most 30 characters; true and false are kept as 1 and 0.',
    published: {
      anyOf: [
        { type: 'object', propertyNames: ATTRIBUTE_KEY, additionalProperties: ATTRIBUTE_VALUE },
        {
          type: 'array',
          items: { type: 'object', required: ['key'], properties: { key: ATTRIBUTE_KEY, value: ATTRIBUTE_VALUE } },
        },
        { type: 'null' },
      ],
    },
    examples: [{ plan: 'gold', age: 33.5 }, [{ key: 'plan', value: 'gold' }]],
  }),
);

export const ProfileBody = Type.Object(
  {
    ...InstallFields,
    custom_attributes: CustomAttributes,
  },
  {
    rules: attributeRules,
    examples: [{ country: 'DE', store: 'app_store', custom_attributes: { plan: 'gold' } }],
  },
);

export type ProfileBody = Static<typeof ProfileBody>;
