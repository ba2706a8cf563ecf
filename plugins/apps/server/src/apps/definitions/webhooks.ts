import { z } from 'zod';
import { type AppsError, definitionError } from '../../common/errors';
import { searchProblem } from '../../indexes';
import type { IndexDeclarations } from '../../indexes/types';
import { secretName } from '../elements';
import type { Block, RecordEvent, Settings, Webhook } from '../types';
import { check } from '../yaml/check';
import { describe, mapping, named, oneOf, text } from '../yaml/schema';

/** Webhooks of an app: each is compared with every record that is stored. */
const MAX_WEBHOOKS = 50;

const MAX_URL = 2_000;

/** What happens to records. */
export const recordEvents = ['create', 'update', 'delete'] as const satisfies readonly RecordEvent[];

const WANTED = 'an address such as "https://hooks.example.org/tickets", without a name, a password and a "#"';

function isTarget(given: string): boolean {
  if (given.length > MAX_URL || !URL.canParse(given)) return false;
  const { protocol, username, password, hash } = new URL(given);
  return /^https?:$/.test(protocol) && `${username}${password}${hash}` === '';
}

const notTarget = {
  error: ({ input }: { input?: unknown }) => `This must be ${WANTED}, not ${describe(input ?? null)}`,
};

const url = check<string>(z.string(notTarget).refine(isTarget, notTarget));

const event = oneOf<RecordEvent>(...recordEvents);

const events = check<RecordEvent[]>(
  z
    .array(event.schema as z.ZodType<RecordEvent>, {
      error: ({ input }) => `This must be a list such as [create, update], not ${describe(input)}`,
    })
    .min(1, 'A webhook needs at least one event')
    .max(recordEvents.length, 'Each event is named once'),
);

const FUNCTION = /^([A-Za-z0-9_][A-Za-z0-9_.-]*)\/([A-Za-z_$][\w$]*)$/;

const body = check(text.schema, (value, at): Webhook['body'] => {
  const [, block, name] = FUNCTION.exec(value) ?? [];
  if (block === undefined || name === undefined)
    return at.fail(`This must be <block>/<function>, not ${describe(value)}`);
  return { block, name };
});

const webhookMapping = mapping({ url, events, block: text, query: text, body, secret: secretName });

const webhook = check(webhookMapping.schema, (value, at): Webhook => {
  const given = webhookMapping.read(value, at);
  if (given.url === undefined) return at.fail('A webhook needs a "url"');
  return {
    url: given.url,
    events: new Set(given.events ?? recordEvents),
    block: given.block ?? null,
    query: given.query ?? null,
    body: given.body ?? null,
    secret: given.secret ?? null,
    position: at.position,
  };
});

const all = named('a webhook', webhook);

/** The key `webhooks` of settings.yaml (docs/reference/webhooks.md#webhooks-out). */
export const webhooks = check(all.schema, (value, at): Settings['webhooks'] => {
  const tooMany = Object.keys(at.value as object)[MAX_WEBHOOKS];
  if (tooMany !== undefined) at.key(tooMany).fail(`An app has at most ${MAX_WEBHOOKS} webhooks`);
  return all.read(value, at);
});

/**
 * The DefinitionError of a webhook that could never be sent as it says; null if there is none. A query is not checked while
 * the definition of a block is broken, which may declare its indexes.
 */
export function webhookProblem(
  { webhooks }: Pick<Settings, 'webhooks'>,
  blocks: ReadonlyMap<string, Block>,
  indexes: IndexDeclarations,
): AppsError | null {
  const isWhole = [...blocks.values()].every(({ error }) => !error);
  for (const [name, { block, body, query, position }] of webhooks) {
    const wrong = (message: string) => definitionError(`webhooks.${name}: ${message}`, position);
    const unknown = [block, body?.block].find((one) => one != null && !blocks.has(one));
    if (unknown != null) return wrong(`there is no block "${unknown}"`);
    const reason = query !== null && isWhole ? searchProblem(indexes, { query }, false) : null;
    if (reason !== null) return wrong(`the query is wrong: ${reason}`);
  }
  return null;
}
