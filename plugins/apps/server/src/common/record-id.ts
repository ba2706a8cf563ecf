/** Maximum length of a record id in characters (code points) (docs/reference/terms.md#ids). */
export const MAX_RECORD_ID = 255;

/** Why an id is invalid, and the rule that it breaks. */
export interface RecordIdProblem {
  reason: string;
  rule: string;
}

const problem = (reason: string, rule: string): RecordIdProblem => ({ reason, rule: `A record id ${rule}` });

const empty = problem('it is empty', 'must not be empty');
const long = problem(`it is longer than ${MAX_RECORD_ID} characters`, `has at most ${MAX_RECORD_ID} characters`);
const control = problem('it contains a control character', 'must not contain control characters');
const malformed = problem('it is not well-formed Unicode', 'must be well-formed Unicode');

/** What most ids are: three patterns less for each of the thousand that a search may find. */
const usual = /^[\w.~-]*$/;

/** Why a text cannot be a record's id (docs/reference/addresses.md#record-ids), or null if it can. */
export function recordIdProblem(id: string): RecordIdProblem | null {
  if (id === '') return empty;
  if (id.length <= MAX_RECORD_ID && usual.test(id)) return null;
  // A character has at most two code units: this avoids counting the characters of a very long text.
  if (id.length > 2 * MAX_RECORD_ID || [...id].length > MAX_RECORD_ID) return long;
  if (/\p{Cc}/u.test(id)) return control;
  return /\p{Surrogate}/u.test(id) ? malformed : null;
}
