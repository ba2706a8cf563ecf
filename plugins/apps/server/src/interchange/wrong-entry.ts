import { AppsError } from '../common/errors';

/** A file that holds no records, or a line that is none: the message names its line or row. */
export class WrongEntry extends AppsError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('BadRequestError', message, options);
  }
}
