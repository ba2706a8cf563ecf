import { type Items, itemOf, type Json } from '../../../../../shared/json';
import { errorText, isAppsError } from '../../../common/errors';
import type { Region } from '../../../common/values/moments';
import { isUnconfirmed } from '../../../indexes';
import type { StoredRecord } from '../../../records/types';
import { fieldsOf, listedOptions, readableValue, valueInTitle } from '../../elements';
import type { PageLocale } from '../../locales';
import { checkedMail, filledLine, isAddress, mailLimits, shown } from '../../mail';
import { queueNotice, requesterAddress } from '../../run/calls-out';
import { addNote, folderOf } from '../../run/diagnostics/failures';
import { linkOfRecord } from '../../run/own-link';
import { nestedRun } from '../../run/run';
import { localeOf } from '../../run/site-locale';
import type { Run } from '../../run/types';
import type { Block, ElementDefinition, Notify } from '../../types';
import { isMapping } from '../../yaml/schema';
import { displayBlock } from '../run-block';

/** What the words for yes and no are in the language of the mail. */
type Say = (message: 'yes' | 'no') => string;

/**
 * The fields of a form with their values, one on each line; below a repeated group a line for each entry.
 * @param region the language of the mail's dates and numbers; without it they are as they are stored
 */
export function mailLines(
  elements: ReadonlyMap<string, ElementDefinition>,
  items: Items,
  say: Say,
  region?: Region,
): string[] {
  const filled = [...elements.values()].filter(
    ({ name, kind }) => kind.role !== 'action' && Object.hasOwn(items, name),
  );
  return filled.flatMap((element) => {
    const { name, label = name } = element;
    const entry = fieldsOf(element);
    const value = items[name];
    if (!entry || !Array.isArray(value)) return `${label}: ${textOf(element, value, say, region)}`;
    const entries = value.map((one) => (isMapping(one) ? mailLines(entry, one, say, region).join(', ') : shown(one)));
    return [`${label}:`, ...entries.map((text, index) => `  ${index + 1}. ${text}`)];
  });
}

/** A value in one line, as people read it; of a repeated group its entries, one after the other. */
export function readableLine(
  element: ElementDefinition,
  value: Json,
  locale: Region & { say: Say },
  options = listedOptions(element),
): string {
  const entry = fieldsOf(element);
  if (!entry || !Array.isArray(value)) return value === null ? '' : textOf(element, value, locale.say, locale, options);
  return value
    .map((one) => (isMapping(one) ? mailLines(entry, one, locale.say, locale).join(', ') : shown(one)))
    .join('; ');
}

/** A value as its form shows it: options by their labels, files by their names, dates and numbers in the language of the mail. */
function textOf(
  element: ElementDefinition,
  value: Json | undefined,
  say: Say,
  region: Region | undefined,
  options = listedOptions(element),
): string {
  if (Array.isArray(value)) return value.map((one) => textOf(element, one, say, region, options)).join(', ');
  const word = value === undefined ? undefined : element.kind.word?.(value);
  if (word) return say(word);
  if (value !== undefined && isMapping(value) && typeof value.documentId === 'string') return shown(value.name);
  const label = options?.find((option) => option.value === value)?.label;
  return label ?? shown(region && value !== undefined ? readableValue(element, value, region) : value);
}

/**
 * Queues the mail of the block's `notify` for a record that its form has saved (docs/reference/definitions.md#notify). A mail
 * that cannot be made or sent does not fail the request, so that what the visitor has entered is not lost: the log, and
 * the console of those who see details, say why.
 */
export async function notifyOfSave(run: Run, block: Block, record: StoredRecord, created: boolean): Promise<void> {
  const { notify } = block.definition;
  if (isUnconfirmed(record.items)) return;
  if (notify && (created || notify.onUpdate)) await notifyOf(run, block, record, notify);
}

/** Queues the mail that a `notify` says, of a block or of a state; in the same way it never fails the request. */
export const notifyOf = (run: Run, block: Block, record: StoredRecord, notify: Notify): Promise<void> =>
  guarded(run, block, 'notify', () => send(run, block, notify, record));

/** Makes a mail; one that cannot be made is reported under the key of the definition that asks for it. */
export async function guarded(
  run: Run,
  block: Block,
  key: 'notify' | 'receipt',
  make: () => Promise<void>,
): Promise<void> {
  try {
    await make();
  } catch (error) {
    // A lost database or a collision ends the whole attempt.
    if (!isAppsError(error) || run.fatal.error !== undefined) throw error;
    report(run, block, `${key}: no mail was sent: ${errorText(error, folderOf(run.services, run.app.id))}`);
  }
}

async function send(run: Run, block: Block, notify: Notify, record: StoredRecord): Promise<void> {
  const fill = (text: string) => filledLine(text, (name) => valueFor(run, record, name));
  // A recipient that depends on a value may be none, such as {requester} of anonymous.
  const to = notify.to.map(fill).filter((address) => address !== '');
  if (to.length === 0) return;
  const replyTo = fill(notify.replyTo);
  const html = notify.block === null ? '' : await bodyOf(run, block, 'notify', notify.block, record);
  const { elements } = block.definition;
  const locale = await localeOf(run);
  const { say } = locale;
  const lines = mailLines(elements, record.items, say, locale);
  const subject =
    filledLine(notify.subject, lineFor(run, block, record, locale)).slice(0, mailLimits.subject) || run.app.id;
  const mail = checkedMail({
    to,
    subject,
    text: (lines.join('\n') || say('record_saved')).slice(0, mailLimits.text),
    html,
    reply_to: isAddress(replyTo) ? replyTo : '',
  });
  const url = run.services.sites.urls.record(run.visit.site, run.app.id, record.id);
  queueNotice(run, mail, { block: block.id, link: { title: subject, url } });
}

/** What a name in braces stands for in a subject, in the language of the mail. */
export const lineFor =
  (run: Run, { definition }: Block, record: StoredRecord, locale: PageLocale) =>
  (name: string): Json =>
    valueInTitle(definition.elements.get(name), valueFor(run, record, name) ?? null, locale);

/** The value of a name in braces: `requester`, `id`, `options.<name>`, or an item of the record. */
function valueFor(run: Run, record: StoredRecord, name: string): Json | undefined {
  if (name === 'requester') return requesterAddress(run.visit);
  if (name === 'id') return record.id;
  if (name === 'link' && !Object.hasOwn(record.items, name)) return linkOfRecord(run, record) ?? undefined;
  if (!name.startsWith('options.')) return itemOf(record.items, name);
  return itemOf(run.app.settings.options, name.slice('options.'.length));
}

/**
 * HTML of the block that the mail shows, with the record; '' when it cannot be rendered. Its `view_permission` does not
 * count: the definition names it, and the visitor does not see it.
 */
export async function bodyOf(
  run: Run,
  block: Block,
  key: 'notify' | 'receipt',
  id: string,
  record: StoredRecord,
): Promise<string> {
  const shownBlock = run.app.blocks.get(id);
  try {
    if (!shownBlock) return '';
    if (shownBlock.error) throw shownBlock.error;
    const displayed = await displayBlock(nestedRun(run, run.app), shownBlock, { record, mode: 'text' });
    return 'html' in displayed ? displayed.html : '';
  } catch (error) {
    if (!isAppsError(error) || run.fatal.error !== undefined) throw error;
    report(
      run,
      block,
      `${key}: the mail is sent without "${id}": ${errorText(error, folderOf(run.services, run.app.id))}`,
    );
    return '';
  }
}

function report(run: Run, block: Block, message: string): void {
  run.failures.push(`${run.app.id}/${block.id}: ${message}`);
  addNote(run, { app: run.app.id, block: block.id, line: null, message });
}
