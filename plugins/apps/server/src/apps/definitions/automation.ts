import { z } from 'zod';
import { type AppsError, definitionError } from '../../common/errors';
import { cronProblem, isTimeZone } from '../../common/time/cron';
import type { Wrong } from '../../common/validation';
import { searchProblem } from '../../indexes';
import type { IndexDeclarations } from '../../indexes/types';
import { secretName } from '../elements';
import { isAddress, isAllowed, recipientEntries } from '../mail';
import type { Block, Notify, RecordEvent, Schedule, Settings, Webhook } from '../types';
import { boundedList, type Check, check, describe, flag, mapping, named, oneOf, shownAs, text } from '../yaml-schema';

/** Maximum recipients of `notify`. */
const MAX_TO = 10;

const entry = z.string().max(300);

const to = check<string[]>(
  shownAs(
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
    () => z.union([entry, z.array(entry).min(1).max(MAX_TO)]),
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
  given: Notify | null,
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

/** Maximum schedules of a block. */
const MAX_SCHEDULES = 20;

/** Names of functions in JavaScript and Python; `run` is one of the block. */
const NAME = /^[A-Za-z_$][\w$]{0,99}$/;

const notName = {
  error: ({ input }: Wrong) => `This must be the name of a function of the block, not ${describe(input)}`,
};

const notCron = {
  error: ({ input }: Wrong) => `This must be a cron text such as "0 6 * * 1-5", not ${describe(input)}`,
};

const cron = check<string>(
  z.string(notCron).superRefine((text, context) => {
    const problem = cronProblem(text);
    if (problem) context.addIssue(`${notCron.error({ input: text })}: ${problem}`);
  }),
);

const notZone = {
  error: ({ input }: Wrong) => `This must be a time zone such as Europe/Paris, not ${describe(input)}`,
};

const scheduleMapping = mapping({
  run: check<string>(z.string(notName).regex(NAME, notName)),
  cron,
  time_zone: check<string>(z.string(notZone).refine(isTimeZone, notZone)),
  missed: oneOf('skip', 'once', 'all'),
});

const schedule = check(scheduleMapping.schema, (value, at): Schedule => {
  const { run, cron: text, time_zone: timeZone = null, missed = 'once' } = scheduleMapping.read(value, at);
  if (run === undefined) return at.fail('A schedule needs a "run", the name of a function');
  if (text === undefined) return at.fail('A schedule needs a "cron", such as "0 6 * * 1-5"');
  return { run, cron: text.trim().replace(/\s+/g, ' '), timeZone, missed, position: at.position };
});

const list = boundedList(
  MAX_SCHEDULES,
  `A block has at most ${MAX_SCHEDULES} schedules`,
  z.array(schedule.schema, { error: ({ input }) => `This must be a list of schedules, not ${describe(input)}` }),
  (one) => schedule.schema.safeParse(one).success,
);

/** The key `schedules` of a definition (docs/reference/definitions.md#schedules). */
export const schedules: Check<Schedule[]> = check(list, (values, at): Schedule[] => {
  const found = new Map<string, Schedule>();
  for (const [index, value] of (values as unknown[]).entries()) {
    const node = at.child(index);
    const one = schedule.read(value, node);
    const key = JSON.stringify([one.run, one.cron, one.timeZone]);
    if (found.has(key)) node.fail('This schedule is there twice');
    found.set(key, one);
  }
  return [...found.values()];
});

/** Webhooks of an app: each is compared with every record that is stored. */
const MAX_WEBHOOKS = 50;

const MAX_URL = 2_000;

/** What happens to records. */
const recordEvents = ['create', 'update', 'delete'] as const satisfies readonly RecordEvent[];

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
