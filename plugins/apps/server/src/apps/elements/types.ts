import type { Json } from '../../../../shared/json';
import type { ElementDefinition, ElementOption } from '../types';
import type { PatternWork } from './pattern-machine';

/** One row of the element type table; an element type is one file (contract, section 7). */
export interface ElementType {
  /** Definition keys it takes besides `type`. */
  readonly keys: readonly string[];
  /** Whether it is a form field whose value is stored with the record. */
  readonly input: boolean;
  /**
   * Turns what was submitted under the element's name (one string a form entry) into the value to store, or says in one
   * sentence what is wrong. `work` is what the patterns of all inputs may do together. Present on inputs only.
   */
  read?(
    submitted: readonly string[],
    definition: ElementDefinition,
    options: readonly ElementOption[],
    work?: PatternWork,
  ): { value: Json } | { error: string };
  /** HTML of the element; every value and label escaped. Absent on BASIC, whose function makes the HTML. */
  render?(view: ElementView): string;
}

export interface ElementView {
  definition: ElementDefinition;
  /** `input`: a form field (new record or edit mode); `text`: the stored value for reading. */
  mode: 'input' | 'text';
  /** The stored or default value. */
  value: Json;
  /** What the visitor entered, shown again after a validation error; null when nothing was submitted. */
  entered: readonly string[] | null;
  /** Validation error to show beside the field. */
  error: string | null;
  options: readonly ElementOption[];
  /** Begins the ids of the element's controls; `apps` unless several blocks may stand on one page. */
  idPrefix?: string;
  /** Address that an action's button posts to, where it is not its form's. */
  formAction?: string | undefined;
}
