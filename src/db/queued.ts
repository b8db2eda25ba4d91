// Items that are written together, each with the caller that waits for it; the outcome of a write, and passing it on.
export interface Queued<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export type Outcome<Result> = { results: readonly Result[] } | { error: unknown };

/** Waits for a write and returns its outcome. Never rejects. */
export async function outcomeOf<Result>(results: Promise<readonly Result[]>): Promise<Outcome<Result>> {
  try {
    return { results: await results };
  } catch (error) {
    return { error };
  }
}

/** Gives each caller its result, or all of them the error. */
export function answer<Item, Result>(group: readonly Queued<Item, Result>[], outcome: Outcome<Result>): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.results[index] as Result);
  }
}
