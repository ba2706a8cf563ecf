/** A file that holds no records, or a line that is none: the message names its line or row. */
export class WrongEntry extends Error {}
