// Work in steps that do not need each other.

export interface Steps {
  /** How much a step did; nothing if it failed. */
  take: (step: Promise<number>) => Promise<number>;
  /** Throws what the first that failed did. */
  end: () => void;
}

/** One that fails, even again and again, keeps none of the others from theirs. */
export function createSteps(): Steps {
  const failures: unknown[] = [];
  return {
    take: (step) =>
      step.catch((error: unknown) => {
        failures.push(error);
        return 0;
      }),
    end() {
      if (failures.length > 0) throw failures[0];
    },
  };
}
