// Work in steps that do not need each other.

export interface Steps {
  /** How much a step did; nothing if it failed. */
  take: (step: Promise<number>) => Promise<number>;
  /** Throws what the one that failed did, or all that failed together. */
  end: () => void;
}

/** A step that fails stops none of the others, also if it does so again and again. */
export function createSteps(): Steps {
  const failures: unknown[] = [];
  return {
    take: (step) =>
      step.catch((error: unknown) => {
        failures.push(error);
        return 0;
      }),
    end() {
      if (failures.length > 1) throw new AggregateError(failures, `${failures.length} steps failed`);
      if (failures.length === 1) throw failures[0];
    },
  };
}
