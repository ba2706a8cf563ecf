/** A ZIP or a folder that cannot be used at all. */
export class ArchiveError extends Error {
  /** @param cure what can be done about it */
  constructor(
    message: string,
    readonly cure?: string,
  ) {
    super(message);
  }
}
