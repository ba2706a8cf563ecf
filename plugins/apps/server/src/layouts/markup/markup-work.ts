import { type AppsError, definitionError } from '../../common/errors';
import { processorTime } from '../limits';

/** Limits of one piece of HTML: a block, a page. HTML above them is refused with a DefinitionError. */
export const markupLimits = {
  characters: 4_000_000,
  /** Elements, texts and comments, including those that the parser adds. */
  nodes: 200_000,
  /** Elements inside each other. */
  depth: 3_000,
  /** Attributes of one tag. */
  attributes: 1_000,
  /** Milliseconds of CPU time for one task of a worker process. */
  time: 3_000,
};

/**
 * Limits of work on the server's main thread; larger work goes to a worker process. A step is 20 to 50 ns: parsing an
 * element costs 50, testing an element against a selector 1.
 */
export const inlineLimits = { characters: 50_000, steps: 600_000 };

/** The work is too large for the main thread and needs a worker process. Stays inside layouts/. */
export class TooLargeInline extends Error {}

/** The time of a task in a worker process is up. Stays inside layouts/. */
export class TimeUp extends Error {
  constructor(readonly time: number) {
    super(`it takes longer than ${time} ms`);
  }
}

/** Steps between two readings of the clock. */
const STRIDE = 2_000;

/**
 * Counts the work on one piece of HTML and ends it at its limit: on the main thread after `inlineLimits` with
 * TooLargeInline, in a worker process after `time` milliseconds with TimeUp. It measures CPU time, so that HTML is not
 * refused because the machine is busy.
 */
export class Work {
  #steps = 0;
  #next: number;
  #isOver = false;

  /** @param end the processor time of this process at which `time` is up */
  private constructor(
    private readonly inline: boolean,
    readonly time: number,
    private readonly end: number,
  ) {
    this.#next = inline ? inlineLimits.steps : STRIDE;
  }

  static inline(): Work {
    return new Work(true, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** @param time milliseconds of CPU time from now */
  static timed(time: number = markupLimits.time): Work {
    return new Work(false, time, processorTime() + time);
  }

  /** Whether the time was up at the last reading of the clock. */
  get isTimeUp(): boolean {
    return this.#isOver && !this.inline;
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#next) this.#checkBound();
  }

  #checkBound(): void {
    this.#isOver = this.inline || processorTime() > this.end;
    this.#next = this.#isOver ? -1 : this.#steps + STRIDE;
    if (this.#isOver) throw this.inline ? new TooLargeInline() : new TimeUp(this.time);
  }

  /** Called before HTML of that many characters is parsed. */
  checkLength(characters: number): void {
    if (this.inline && characters > inlineLimits.characters) throw new TooLargeInline();
    if (characters > markupLimits.characters) throw tooLarge(`${markupLimits.characters} characters`);
  }
}

export const tooMuchWork = (reason: string): AppsError => definitionError(`The HTML is too much work: ${reason}`);

/** @param what the limit, e.g. `1000 attributes in one tag` */
export const tooLarge = (what: string): AppsError => definitionError(`HTML may have at most ${what}`);
