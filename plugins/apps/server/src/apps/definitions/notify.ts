import { z } from 'zod';
import { type AppsError, definitionError } from '../../common/errors';
import { isAddress, isAllowed, recipientEntries } from '../mail/addresses';
import type { Block, Notify, Settings } from '../types';
import { type Check, check } from '../yaml/check';
import { boundedList, describe, flag, mapping, text } from '../yaml/schema';

/** Maximum recipients of `notify`. */
const MAX_TO = 10;

const entry = z.string().max(300);

const to = check<string[]>(
  z.preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    boundedList(
      MAX_TO,
      `There are at most ${MAX_TO} recipients`,
      z
        .array(entry, {
          error: ({ input }) => `This must be an address, or a list of addresses, not ${describe(input)}`,
        })
        .min(1),
      (one) => entry.safeParse(one).success,
    ),
  ),
);

const notifyMapping = mapping({ to, subject: text, block: text, reply_to: text, on_update: flag });

/** The key `notify` of a definition (docs/reference/definitions.md#notify). */
export const notify: Check<Notify> = check(notifyMapping.schema, (value, at): Notify => {
  const given = notifyMapping.read(value, at);
  if (given.to === undefined) return at.fail('"notify" needs a "to"');
  if (given.subject === undefined) return at.fail('"notify" needs a "subject"');
  for (const [index, one] of given.to.entries()) {
    const node = Array.isArray(at.child('to').value) ? at.child('to').child(index) : at.child('to');
    if (!one.includes('{') && !isAddress(one))
      node.fail(`This must be a bare address such as "me@example.org", not ${describe(one)}`);
  }
  return {
    to: given.to,
    subject: given.subject,
    block: given.block ?? null,
    replyTo: given.reply_to ?? '',
    onUpdate: given.on_update ?? false,
    position: at.position,
  };
});

/** The DefinitionError of a `notify` that could never be sent; null if there is none. */
export function notifyProblem(
  { notify: given }: Block['definition'],
  settings: Settings,
  blocks: ReadonlyMap<string, Block>,
): AppsError | null {
  if (!given) return null;
  const wrong = (message: string) => definitionError(`notify: ${message}`, given.position);
  if (!settings.mail) return wrong('settings.yaml must say with "mail" to whom the app may send');
  const entries = recipientEntries(settings);
  const refused = given.to.find((one) => !one.includes('{') && !isAllowed(one, entries));
  if (refused !== undefined) return wrong(`"mail" in settings.yaml does not name ${refused}`);
  if (given.block !== null && !blocks.has(given.block)) return wrong(`there is no block "${given.block}"`);
  return null;
}
