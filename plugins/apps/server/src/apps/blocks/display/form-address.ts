import { blockAddress, type Shown } from '../../run/context-data';
import { ownsByLink } from '../../run/own-link';
import type { Run } from '../../run/types';
import type { Block } from '../../types';

/** Makes ids of controls unique among the blocks of a page, and among the records that one block shows. */
export function idPrefix(run: Run, block: Block, { record }: Shown): string {
  const prefix = `apps-${run.app.id}-${block.id}`;
  return run.depth > 0 && record ? `${prefix}-${encodeURIComponent(record.id)}` : prefix;
}

/** A block inside another one has no form, because forms do not nest: its buttons have the address instead. */
export function formActionOf(run: Run, block: Block, { record }: Shown): string | undefined {
  if (run.depth === 0) return undefined;
  const { urls } = run.services.sites;
  const { site, contentPath } = run.visit;
  return record
    ? urls.record(site, run.app.id, record.id, contentPath)
    : urls.block(site, run.app.id, block.id, contentPath);
}

/** Where the form of a block posts to: the record that it shows, by its link where the request has it; else the block. */
export function formAddress(run: Run, block: Block, record: Shown['record']): string {
  const { visit, services, app } = run;
  if (!record) return blockAddress(run, block.id);
  if (visit.own && ownsByLink(visit, app.id, record.id)) return visit.own.address;
  return services.sites.urls.record(visit.site, app.id, record.id, visit.contentPath);
}
