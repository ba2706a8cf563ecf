import { type Block, permittedBlock, permittedRecord, type Run, requireRight } from '../../apps';
import { seesRecords } from '../../auth';
import { missing, notFound } from '../../common/errors';
import { recordIdProblem } from '../../common/record-id';
import type { StoredRecord } from '../../records/types';
import type { Exchange, TargetOf } from '../request/exchange';

/**
 * A trailing `/edit` means edit mode unless a record with that whole id exists
 * (docs/reference/addresses.md#record-ids).
 */
export async function addressedRecord(
  run: Run,
  exchange: Exchange<TargetOf<'record'>>,
): Promise<{ record: StoredRecord; edit: boolean }> {
  const { id, edit } = exchange.target;
  const key = { site: exchange.site.id, app: exchange.app.id };
  requireRight(run, seesRecords(run.rights), 'see this page');
  // With `/edit` the longest ids exceed the limit of an id.
  const whole = edit && recordIdProblem(id) ? null : await run.unit.get(key, id, run.rights.viewOwn ?? undefined);
  if (whole || !edit) {
    if (!whole) throw notFound(missing.record(id, exchange.app.id));
    return { record: whole, edit: false };
  }
  const short = id.replace(/\/edit$/, '');
  return {
    record: await permittedRecord(run, short, (creator) => run.rights.edit(creator), 'change this'),
    edit: true,
  };
}

/** The record's block if the theme still has it; a record stays accessible without its block. */
export function blockOfRecord(run: Run, record: StoredRecord): Block | null {
  const { block } = record.items;
  return typeof block === 'string' && run.app.blocks.has(block) ? permittedBlock(run, block) : null;
}
