import { errorText, isAppsError } from '../../../common/errors';
import type { StoredRecord } from '../../../records/types';
import type { Block } from '../../types';
import { addNote, folderOf } from '../diagnostics/failures';
import { queueReceipt, receiptAddress } from '../receipts';
import { localeOf } from '../site-locale';
import type { Run } from '../types';
import { nameOf } from '../visits';

/**
 * Queues the mail to the address of `receipt` for a record that has moved up from the waiting list. One that cannot be made does not
 * keep the record from moving up: the log says why.
 */
export async function mailOfPlace(run: Run, block: Block, record: StoredRecord): Promise<void> {
  const { receipt } = block.definition;
  const address = receipt && receiptAddress(receipt, record);
  if (!address) return;
  const { say } = await localeOf(run);
  const name = nameOf(block);
  try {
    await queueReceipt(run, {
      address,
      subject: say('place_free_subject', { name }),
      text: say('place_free', { name }),
      html: '',
      calendar: null,
      isNeeded: false,
    });
  } catch (error) {
    if (!isAppsError(error)) throw error;
    const message = `receipt: no mail was sent: ${errorText(error, folderOf(run.services, run.app.id))}`;
    run.failures.push(`${run.app.id}/${block.id}: ${message}`);
    addNote(run, { app: run.app.id, block: block.id, line: null, message });
  }
}
