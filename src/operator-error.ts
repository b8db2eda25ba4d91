// How what an operator asks for fails: a mistake of theirs, told in a sentence.

/** The message is for the operator, and all that they see. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

/** Throws an OperatorError where no member is given. */
export function requireChange(change: object): void {
  if (Object.values(change).every((value) => value === undefined)) throw new OperatorError('Say what is to change.');
}
