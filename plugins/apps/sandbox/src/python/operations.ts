import { timeIsOver } from '../replies';

/**
 * The operations of `_bridge(text)`, the only function with which Python calls JavaScript: the first letter of the text is
 * the operation, the rest is its argument. It returns text.
 */
export const operations = {
  /** The server's request. */
  request: 'R',
  /** Gives the answer to it. */
  answer: 'A',
  /** Makes host calls: JSON of `HostCalls` in, of a `HostAnswer` out. */
  hostCalls: 'H',
  /** Takes the long texts out of JSON, and gives one of them by its number. */
  takeOutTexts: 'J',
  longText: 'G',
  /** A file of the program after a blank; without the blank there is no such file. */
  module: 'M',
  /** Diagnoses a file that does not compile: line and path in, `<line> <column> <message>` out, or nothing. */
  diagnose: 'D',
  /** A seed for random numbers: the image of the machine's memory holds the same one every time. */
  randomSeed: 'S',
  /** Notes an input that was looked at, by its name. */
  look: 'K',
  upperCase: 'U',
  lowerCase: 'L',
  /** Whether a text has letters of one kind only: `a`, `n`, `d` or `i`, and the text. */
  isMadeOf: 'C',
  /** Rounds: number of digits, blank, number. */
  round: 'F',
  /** Whether JSON can hold a whole number exactly. */
  isWholeNumber: 'W',
  /** JSON text of a string. */
  quote: 'Q',
  /** The time in a zone: JSON of zone and time. */
  zonedTime: 'T',
  /** The begin of a day: JSON of zone, time, day and days; JSON of the result, or of the message of a ValueError. */
  dayBegin: 'B',
  compilePattern: 'P',
  searchPattern: 'X',
} as const;

/** The operations as Python's constants: `_OP_HOST_CALLS = 'H'`; and what `hostCalls` answers when the time is over. */
export function operationsText(): string {
  const constants = Object.entries(operations).map(([name, letter]) => {
    const words = name.replace(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase();
    return `_OP_${words} = '${letter}'`;
  });
  return [...constants, `_TIME_IS_OVER = '${timeIsOver}'`].join('\n');
}
