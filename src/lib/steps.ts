// Work in steps that do not need each other.

/** A full disk fails the steps of every app, each second. */
const MOST_TOLD = 5;

export interface Steps {
  /** What a step gives, or what is given instead if it fails. */
  attempt: <T>(step: Promise<T>, otherwise: T) => Promise<T>;
  /** Throws what the one that failed did, or the first of those that failed together. */
  throwFailures: () => void;
}

/** A step that fails stops none of the others, also if it does so again and again. */
export function createSteps(): Steps {
  const failures: unknown[] = [];
  return {
    attempt: (step, otherwise) =>
      step.catch((error: unknown) => {
        failures.push(error);
        return otherwise;
      }),
    throwFailures() {
      if (failures.length > 1)
        throw new AggregateError(failures.slice(0, MOST_TOLD), `${failures.length} steps failed`);
      if (failures.length === 1) throw failures[0];
    },
  };
}
