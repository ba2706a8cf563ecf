/**
 * The time of a request or a try that does entry after entry, and leaves what is left to the next one. It counts from the first entry that
 * is done: each begins its scan from the first row, and would else end before it has found one, for ever.
 */
export class Turn {
  private ends = Number.POSITIVE_INFINITY;

  constructor(
    private readonly milliseconds: number,
    private readonly now: () => number,
  ) {}

  /** Notes that an entry is done. One that fails is none: it comes again in the next turn. */
  done(): void {
    this.ends = Math.min(this.ends, this.now() + this.milliseconds);
  }

  get isOver(): boolean {
    return this.now() > this.ends;
  }
}
