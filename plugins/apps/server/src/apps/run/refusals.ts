import { AppsError } from '../../common/errors';
import type { LogicBudget } from '../../logic/types';

/** A message about what was sent: of one element, or of the whole form without a path. */
export interface FormError {
  path: string[];
  message: string;
}

/** The messages of `context.invalid` in one attempt at a request. */
export interface Refusals {
  /** Whether the running function may refuse. */
  isOpen: boolean;
  errors: FormError[];
}

/**
 * The 422 of a form, or of a record that logic has refused: nothing of the request is stored
 * (docs/reference/logic.md#own-validation).
 */
export class FormRefusal extends AppsError {
  /** @param budget of the refused attempt: what shows the form again uses the rest of it */
  constructor(
    readonly errors: readonly FormError[],
    readonly budget?: LogicBudget,
  ) {
    const list = errors.map(({ path, message }) => ({ path, message }));
    super('ValidationError', 'Some fields are not right', { details: { errors: list } });
  }
}

/** Throws the FormRefusal of an attempt whose logic has refused something. */
export function refuseInvalid({ refusals, budget }: { refusals: Refusals; budget: LogicBudget }): void {
  if (refusals.errors.length > 0) throw new FormRefusal(refusals.errors, budget);
}
