// Items that are written together, and whoever waits for each: how writing them came out, and telling them.
export interface Queued<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export type Outcome<Result> = { results: readonly Result[] } | { error: unknown };

/** Never rejects. */
export async function outcomeOf<Result>(results: Promise<readonly Result[]>): Promise<Outcome<Result>> {
  try {
    return { results: await results };
  } catch (error) {
    return { error };
  }
}

/** Each is given its result, or all the error. */
export function answer<Item, Result>(group: readonly Queued<Item, Result>[], outcome: Outcome<Result>): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.results[index] as Result);
  }
}
