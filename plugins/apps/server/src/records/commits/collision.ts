/** The unit of work collided with another: nothing of it is written, and it may run again from the start. Never shown to a client. */
export class CollisionError extends Error {
  /** `keys`: hashes of the records on which they collided, as far as known. */
  constructor(
    readonly keys: readonly string[] = [],
    cause?: unknown,
  ) {
    super('a record has been changed meanwhile', { cause });
  }
}
