/** Milliseconds: the longest pause before a next try. */
const LONGEST = 60 * 60_000;

/** The part of a pause that is random, so that jobs that failed together are not tried together again. */
const JITTER = 0.2;

/** What a failed try says besides its message. */
interface Failure {
  /** `again`: the next try may succeed; `never`: none will; `missing`: what it needs is not there yet, or no longer. */
  next?: 'again' | 'never' | 'missing';
  /** The status and the beginning of an answer of another server. */
  status?: number | null;
  answer?: string | null;
}

/** A failed try of a job; any other error counts as one that may succeed next time. */
export class JobFailure extends Error {
  readonly next: NonNullable<Failure['next']>;
  readonly status: number | null;
  readonly answer: string | null;

  constructor(message: string, { next = 'again', status = null, answer = null }: Failure = {}, cause?: unknown) {
    super(message, { cause });
    this.next = next;
    this.status = status;
    this.answer = answer;
  }
}

/**
 * Milliseconds between a failed try and the next one: doubled each time, an hour at most, then up to a fifth more.
 * @param attempts tries so far @param backoff seconds before the second one
 */
export function pauseAfter(attempts: number, backoff: number, random = Math.random): number {
  const pause = Math.min(backoff * 1_000 * 2 ** (attempts - 1), LONGEST);
  return Math.round(pause * (1 + JITTER * random()));
}
