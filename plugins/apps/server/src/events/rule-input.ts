import { z } from 'zod';
import { type RuleInput, ruleEvents } from '../../../shared/admin-api';
import { AppsError } from '../common/errors';
import { bodyOf, must, readBody } from '../common/request-schema';
import { idPattern } from '../sites';

/** Characters of each text of a rule: the length of the database's string columns. */
const MAX_LENGTH = 255;

function text(what: string, pattern = /\S/) {
  const wanted = must(what);
  return z.string(wanted).max(MAX_LENGTH, wanted).regex(pattern, wanted);
}

const schema: z.ZodType<RuleInput> = bodyOf({
  name: text(`a text of 1 to ${MAX_LENGTH} characters`).trim(),
  enabled: z.boolean(must('true or false')),
  event: z.enum(ruleEvents, must(`one of ${ruleEvents.join(', ')}`)),
  contentType: text('the uid of a content type'),
  app: text('the id of an app', idPattern),
  block: text('the id of a block', idPattern),
  function: text('the name of a function', /^[A-Za-z_$][\w$]*$/),
});

/** Validates a rule. BadRequestError that names the first unknown, missing or wrong key. */
export const readRule = (items: unknown): RuleInput => readBody(schema, items);

/** The BadRequestError for one key; `details.key` names it for the panel's form. */
export function wrongKey(key: string, message: string): AppsError {
  return new AppsError('BadRequestError', message, { details: { key } });
}
