// How what an operator asks for fails: a mistake of theirs, told in a sentence.

/** The message is for the operator, and all that they see. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}
