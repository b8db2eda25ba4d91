// The failure of a command that its operator can put right, explained in a sentence.

/** The message is for the operator, and is all they see. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

/** Throws an OperatorError if no member is given. */
export function requireChange(change: object): void {
  if (Object.values(change).every((value) => value === undefined))
    throw new OperatorError('Nothing to change: give at least one option.');
}

/** Resolves to undefined where a promise rejects with an OperatorError, as for something that does not exist. */
export async function unlessRefused<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}
