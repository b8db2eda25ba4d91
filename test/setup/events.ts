// Checks events against the schemas of the API reference, both those in the feed and those that are delivered.
import { Ajv, type ValidateFunction } from 'ajv';
import { EVENT_TYPE_NAMES, type EventType } from '../../src/webhooks/catalogue.ts';
import { EVENT_API_VERSION } from '../../src/webhooks/events.ts';
import { eventPayload } from '../../src/webhooks/schema.ts';

const ajv = new Ajv({ allErrors: true, strict: false, formats: { uuid: true } });
const validators = new Map<string, ValidateFunction>();

function validatorOf(eventType: EventType): ValidateFunction {
  const validate = validators.get(eventType) ?? ajv.compile(eventPayload(eventType));
  validators.set(eventType, validate);
  return validate;
}

interface Payload {
  event_type: string;
  event_api_version?: number;
}

function isKnown(eventType: string): eventType is EventType {
  return EVENT_TYPE_NAMES.some((name) => name === eventType);
}

/** Returns what is wrong with an event, if anything. Skips made-up events, which have no version, and test events. */
export function findEventFault(payload: Payload): string | undefined {
  if (payload.event_api_version !== EVENT_API_VERSION || payload.event_type === 'test') return undefined;
  const { event_type } = payload;
  if (!isKnown(event_type)) return `an event of the unknown type ${event_type}`;
  const validate = validatorOf(event_type);
  return validate(payload) ? undefined : `not a ${event_type} event: ${ajv.errorsText(validate.errors)}`;
}
