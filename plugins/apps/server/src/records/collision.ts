/** The unit of work met another one: nothing of it is written, and it may be run again from the start. Never shown to a client. */
export class CollisionError extends Error {
  /** `keys`: hashes of the records that both were about, as far as they are known. */
  constructor(
    readonly keys: readonly string[] = [],
    cause?: unknown,
  ) {
    super('a record has been changed meanwhile', { cause });
  }
}
