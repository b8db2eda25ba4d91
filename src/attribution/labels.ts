// Attribution tuples and their keys in dim_attribution. Rows there never change, so what was found once is remembered.
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { DB } from '../db/types.ts';
import { ensureLabels, findLabels } from './queries.ts';

/** An attribution without its user id: what charts can tell apart. */
export interface Label {
  status: string;
  channel: string | null;
  campaign: string | null;
  ad_group: string | null;
  ad_set: string | null;
  creative: string | null;
  source: string;
}

const MOST_REMEMBERED = 50_000;

export interface Labels {
  /** The key of each label in the same order, undefined for those that no profile has had. */
  find(labels: readonly Label[]): Promise<(number | undefined)[]>;
  /** The key of each label, in the same order; new ones are written. */
  keysOf(labels: readonly Label[]): Promise<number[]>;
}

function nameOf({ status, channel, campaign, ad_group, ad_set, creative, source }: Label): string {
  return JSON.stringify([status, channel, campaign, ad_group, ad_set, creative, source]);
}

export function createLabels(db: Kysely<DB>): Labels {
  const remembered = new LRUCache<string, number>({ max: MOST_REMEMBERED });

  return {
    async find(labels) {
      const keys = labels.map((label) => remembered.get(nameOf(label)));
      const unknown = labels.flatMap((label, index) => (keys[index] === undefined ? [{ label, index }] : []));
      if (unknown.length === 0) return keys;
      const found = await findLabels(
        db,
        unknown.map(({ label }) => label),
      );
      for (const [place, { label, index }] of unknown.entries()) {
        const key = found[place] ?? undefined;
        keys[index] = key;
        if (key !== undefined) remembered.set(nameOf(label), key);
      }
      return keys;
    },

    async keysOf(labels) {
      const names = labels.map(nameOf);
      const unknown = new Map(labels.map((label, index) => [names[index] as string, label]));
      const found = new Map<string, number>();
      for (const name of unknown.keys()) {
        const key = remembered.get(name);
        if (key === undefined) continue;
        found.set(name, key);
        unknown.delete(name);
      }
      if (unknown.size > 0) {
        const keys = await ensureLabels(db, [...unknown.values()]);
        for (const [index, name] of [...unknown.keys()].entries()) {
          const key = keys[index] as number;
          found.set(name, key);
          remembered.set(name, key);
        }
      }
      return names.map((name) => found.get(name) as number);
    },
  };
}
