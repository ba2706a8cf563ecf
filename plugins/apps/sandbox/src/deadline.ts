/**
 * The runner's answer to a host call when the session's time is over; the sandbox answers with the same letter, followed by
 * its stack.
 */
export const timeIsOver = 'T';

/** The first letter of Python's question whether its time is over: the answer is the milliseconds that are left, or `timeIsOver`. */
export const askTime = 'W';
