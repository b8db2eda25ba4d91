// The made-up profiles in the order of their installs, each with everything it bought. A profile depends only on the
// seed and its number.
import { buyEverything, type Transaction } from './chains.ts';
import { type Random, randomOf, uuidOf } from './random.ts';
import { type Attribution, pickAttribution, pickCountry, pickStore } from './vocabulary.ts';

export interface World {
  seed: number;
  people: number;
  /** The three years that the data cover, in milliseconds. Nothing after the end is known. */
  start: number;
  end: number;
}

export interface Person {
  profile_id: string;
  customer_user_id: string;
  installed_at: number;
  country: string;
  store: string;
  attribution: Attribution | null;
  transactions: readonly Transaction[];
}

const DAY_MS = 86_400_000;
const YEARS_DAYS = 3 * 365;
const BUYERS = 0.82;

export function createWorld(people: number, end: number): World {
  return { seed: 42, people, start: end - YEARS_DAYS * DAY_MS, end };
}

function customerUserId(index: number): string {
  return `user-${index}`;
}

/** The business grows: later days have more installs. */
function installedAt(world: World, index: number, random: Random): number {
  const share = ((index + random.next()) / world.people) ** 0.8;
  return Math.floor(world.start + share * (world.end - world.start));
}

export function makePerson(world: World, index: number): Person {
  const random = randomOf(world.seed, index);
  const [country] = pickCountry(random);
  const [store] = pickStore(random);
  const person = {
    profile_id: uuidOf(world.seed + 1, index),
    customer_user_id: customerUserId(index),
    installed_at: installedAt(world, index, random),
    country,
    store,
    attribution: random.chance(0.9) ? pickAttribution(random) : null,
  };
  const transactions = random.chance(BUYERS) ? buyEverything(person, { random, end: world.end, name: `${index}` }) : [];
  return { ...person, transactions };
}
