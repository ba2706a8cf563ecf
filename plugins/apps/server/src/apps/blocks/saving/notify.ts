import { itemOf, type Json } from '../../../../../shared/json';
import { errorText, isAppsError } from '../../../common/errors';
import type { StoredRecord } from '../../../records/types';
import { valueInTitle } from '../../elements';
import { isAddress } from '../../mail/addresses';
import { filledLine } from '../../mail/fill';
import { checkedMail, mailLimits } from '../../mail/message';
import { folderOf } from '../../run/diagnostics/error-mark';
import { addNote } from '../../run/diagnostics/notices';
import { localeOf } from '../../run/locale';
import { queueNotice, requesterAddress } from '../../run/queue-mail';
import { nestedRun } from '../../run/run';
import type { Run } from '../../run/types';
import type { Block, Notify } from '../../types';
import { displayBlock } from '../run-block';
import { mailLines } from './mail-lines';

/**
 * Queues the mail of the block's `notify` for a record that its form has saved (docs/reference/definitions.md#notify). A mail
 * that cannot be made or sent does not fail the request, so that what the visitor has entered is not lost: the log, and
 * the console of those who see details, say why.
 */
export async function notifyOfSave(run: Run, block: Block, record: StoredRecord, created: boolean): Promise<void> {
  const { notify } = block.definition;
  if (!notify || !(created || notify.onUpdate)) return;
  try {
    await send(run, block, notify, record);
  } catch (error) {
    // A lost database or a collision ends the whole attempt.
    if (!isAppsError(error) || run.fatal.error !== undefined) throw error;
    report(run, block, `notify: no mail was sent: ${errorText(error, folderOf(run.services, run.app.id))}`);
  }
}

async function send(run: Run, block: Block, notify: Notify, record: StoredRecord): Promise<void> {
  const fill = (text: string) => filledLine(text, (name) => valueFor(run, record, name));
  // A recipient that depends on a value may be none, such as {requester} of anonymous.
  const to = notify.to.map(fill).filter((address) => address !== '');
  if (to.length === 0) return;
  const replyTo = fill(notify.replyTo);
  const html = notify.block === null ? '' : await bodyOf(run, block, notify.block, record);
  const { elements } = block.definition;
  const locale = await localeOf(run);
  const { say } = locale;
  const lines = mailLines(elements, record.items, say, locale);
  const readable = (name: string) => valueInTitle(elements.get(name), valueFor(run, record, name) ?? null, locale);
  const subject = filledLine(notify.subject, readable).slice(0, mailLimits.subject) || run.app.id;
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

/** The value of a name in braces: `requester`, `id`, `options.<name>`, or an item of the record. */
function valueFor(run: Run, record: StoredRecord, name: string): Json | undefined {
  if (name === 'requester') return requesterAddress(run.visit);
  if (name === 'id') return record.id;
  if (!name.startsWith('options.')) return itemOf(record.items, name);
  return itemOf(run.app.settings.options, name.slice('options.'.length));
}

/**
 * HTML of the block that the mail shows, with the record; '' when it cannot be rendered. Its `view_permission` does not
 * count: the definition names it, and the visitor does not see it.
 */
async function bodyOf(run: Run, block: Block, id: string, record: StoredRecord): Promise<string> {
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
      `notify: the mail is sent without "${id}": ${errorText(error, folderOf(run.services, run.app.id))}`,
    );
    return '';
  }
}

function report(run: Run, block: Block, message: string): void {
  run.failures.push(`${run.app.id}/${block.id}: ${message}`);
  addNote(run, { app: run.app.id, block: block.id, line: null, message });
}
