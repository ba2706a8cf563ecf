import { AppsError, isAppsError, logicError } from '../../common/errors';
import { isFaultOfLogic, remainingTime } from '../../logic';
import type { LogicBudget } from '../../logic/types';

/** A message about what was sent: of one element, or of the whole form without a path. */
export interface FormError {
  path: string[];
  message: string;
}

/** Why a record has no place, or cannot get a state, as `details.code` of its ConflictError, with the message for clients. */
const codeTexts = {
  not_open: 'The block does not take records yet',
  closed: 'The block takes no records any more',
  full: 'All places are taken',
  once: 'The requester has made as many records as one may',
  state: 'A record in this state cannot come into that one',
} as const;

type RefusalCode = keyof typeof codeTexts;

export type PlaceCode = Exclude<RefusalCode, 'state'>;

/** The messages of `context.invalid` in one attempt at a request. */
export interface Refusals {
  /** Whether the running function may refuse. */
  isOpen: boolean;
  errors: FormError[];
}

/**
 * The 422 or 409 of a form, or of a record that logic has refused: nothing of the request is stored
 * (docs/reference/logic.md#own-validation).
 */
export class FormRefusal extends AppsError {
  /**
   * @param budget of the refused attempt: what shows the form again uses the rest of it
   * @param conflicts elements that its sender and somebody else have changed: the form is refused because of them (409)
   * @param code of a record for which there is no place, or no such state (409)
   */
  constructor(
    readonly errors: readonly FormError[],
    readonly budget?: LogicBudget,
    readonly conflicts: readonly string[] = [],
    readonly code: RefusalCode | null = null,
  ) {
    const list = errors.map(({ path, message }) => ({ path, message }));
    const [name, text] =
      code !== null
        ? (['ConflictError', codeTexts[code]] as const)
        : conflicts.length > 0
          ? (['ConflictError', 'The record has changed since the form was opened'] as const)
          : (['ValidationError', 'Some fields are not right'] as const);
    super(name, text, { details: { errors: list, ...(code !== null && { code }) } });
  }
}

/**
 * The 429 of a form whose mail may not be sent now, so that its record could not be confirmed
 * (docs/reference/definitions.md#receipts): nothing of the request is stored.
 */
export class MailRefusal extends AppsError {
  readonly errors: readonly FormError[];

  /** @param budget of the refused attempt: what shows the form again uses the rest of it */
  constructor(
    message: string,
    readonly budget: LogicBudget,
  ) {
    super('RateLimitError', message, { headers: { 'Retry-After': '3600' } });
    this.errors = [{ path: [], message }];
  }
}

/** The 400 of `record.save(context.request)` for a wrong field: nothing of the record was changed yet, so logic may catch it. */
export class FieldError extends AppsError {
  constructor({ path, message }: FormError) {
    super('BadRequestError', `${path.join('.')}: ${message}`);
  }
}

/** What an attempt at a request has of its end. */
interface Ending {
  budget: LogicBudget;
  fatal: { error?: unknown };
}

/** Ends the attempt with an error, also if logic catches it. After the deadline its session ends by itself with a timeout error. */
export function endAttempt({ budget, fatal }: Ending, error: unknown): void {
  if (remainingTime(budget.shared) > 0) fatal.error ??= error;
}

/**
 * Work that logic has called, and that may fail after it has changed something: its failure ends the attempt, also if logic catches
 * it, because half of the work would be stored.
 */
export async function wholly<T>(attempt: Ending, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FieldError)) endAttempt(attempt, asUncaught(error));
    throw error;
  }
}

/** What becomes of an error that logic does not catch (docs/decisions/logic-errors.md). */
function asUncaught(error: unknown): unknown {
  const isMistake = isAppsError(error) && !(error instanceof FormRefusal) && isFaultOfLogic(error);
  return isMistake ? logicError(`${error.name}: ${error.message}`) : error;
}

/** Whether an error is one after which a form is shown again, with what was entered and the error's messages. */
export const refusesForm = (error: unknown): error is FormRefusal | MailRefusal =>
  error instanceof FormRefusal || error instanceof MailRefusal;

/** Throws the FormRefusal of an attempt whose logic has refused something. */
export function refuseInvalid({ refusals, budget }: { refusals: Refusals; budget: LogicBudget }): void {
  if (refusals.errors.length > 0) throw new FormRefusal(refusals.errors, budget);
}
