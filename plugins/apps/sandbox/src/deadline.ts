/**
 * The runner's answer to a host call when the session's time is over; the sandbox answers with the same letter, followed by
 * its stack.
 */
export const timeIsOver = 'T';
