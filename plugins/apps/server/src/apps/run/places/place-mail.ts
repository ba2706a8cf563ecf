import { itemOf } from '../../../../../shared/json';
import { errorText, isAppsError } from '../../../common/errors';
import type { StoredRecord } from '../../../records/types';
import { checkedMail, isAddress } from '../../mail';
import type { Block, Places } from '../../types';
import { queueNotice } from '../calls-out';
import { addNote, folderOf } from '../diagnostics/failures';
import { localeOf } from '../site-locale';
import type { Run } from '../types';
import { nameOf } from '../visits';

/**
 * Queues the mail to the address of `receipt` for a record that has moved up from the waiting list. One that cannot be sent, because
 * `mail` in settings.yaml does not name the address, does not keep the record from moving up: the log says why.
 */
export async function mailOfPlace(run: Run, block: Block & { places: Places }, record: StoredRecord): Promise<void> {
  const { receipt } = block.places;
  const address = receipt && itemOf(record.items, receipt.to);
  if (typeof address !== 'string' || !isAddress(address)) return;
  const { say } = await localeOf(run);
  const name = nameOf(block);
  const subject = say('place_free_subject', { name });
  const mail = checkedMail({ to: [address], subject, text: say('place_free', { name }), html: '', reply_to: '' });
  const url = run.services.sites.urls.record(run.visit.site, run.app.id, record.id);
  try {
    queueNotice(run, mail, { block: block.id, link: { title: subject, url } });
  } catch (error) {
    if (!isAppsError(error)) throw error;
    const message = `receipt: no mail was sent: ${errorText(error, folderOf(run.services, run.app.id))}`;
    run.failures.push(`${run.app.id}/${block.id}: ${message}`);
    addNote(run, { app: run.app.id, block: block.id, line: null, message });
  }
}
