// Work in steps that do not depend on each other.

/** Upper bound of errors reported together: a full disk fails the steps of every app, every second. */
const MAX_REPORTED = 5;

export interface Steps {
  /** Resolves to the result of the step, or to `otherwise` if it fails. */
  attempt: <T>(step: Promise<T>, otherwise: T) => Promise<T>;
  /** If one step failed, throws its error; if several did, throws the first few of theirs together. */
  throwFailures: () => void;
}

/** A step that fails stops none of the others, even if it fails every time. */
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
        throw new AggregateError(failures.slice(0, MAX_REPORTED), `${failures.length} steps failed`);
      if (failures.length === 1) throw failures[0];
    },
  };
}
