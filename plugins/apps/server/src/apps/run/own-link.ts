import type { Draft, Link } from '../../links/types';
import type { StoredRecord } from '../../records/types';
import type { Site } from '../../sites/types';
import type { App, Block, SelfService } from '../types';
import { momentOf } from './places/rules';
import { keyOf } from './run';
import type { AppServices, OpenDraft, OwnLink, Run, Visit } from './types';

type RecordKey = Pick<StoredRecord, 'id' | 'seq'>;

/**
 * Whether the request owns a record by a signed link: its address has the token of the link of this record, and of no other. It says
 * nothing of a requester who owns the record as a user.
 * @param app the app of the record: links of other apps lead to none of it
 */
export function ownsByLink({ own }: Pick<Visit, 'own'>, app: string, { id, seq }: RecordKey): boolean {
  return own?.app === app && own.record === id && own.seq === seq;
}

/** Whether the request may change or delete a record: by its requester's rights, or as the holder of the record's link. */
export function mayChange(
  { rights, visit, app }: Pick<Run, 'rights' | 'visit' | 'app'>,
  what: 'edit' | 'delete',
  record: RecordKey & Pick<StoredRecord, 'creator'>,
): boolean {
  return rights[what](record.creator) || (ownsByLink(visit, app.id, record) && visit.own?.[what] === true);
}

/** Until when a link may be used for changes, in milliseconds since 1970; null: for ever. */
function endOf({ until }: SelfService, { definition: { places } }: Block, site: Site, madeAt: number): number | null {
  if (until !== null) return madeAt + until;
  return places?.closes ? momentOf(places.closes, site, true) : null;
}

/**
 * What a request may do with the record of a link; null where its block offers no link any more, or is broken.
 * @param now milliseconds since 1970
 */
export function ownLink(
  services: Pick<AppServices, 'links' | 'sites'>,
  { site, app, link, record, now }: { site: Site; app: App; link: Link; record: StoredRecord; now: number },
): OwnLink | null {
  const block = app.blocks.get(String(record.items.block));
  const service = block?.definition.selfService;
  if (!block || block.error || !service) return null;
  const until = endOf(service, block, site, link.madeAt);
  const isOpen = until === null || now < until;
  return {
    app: app.id,
    record: record.id,
    seq: record.seq,
    block: block.id,
    linkId: link.linkId,
    until,
    address: services.sites.urls.link(site, app.id, 'mine', services.links.token(link)),
    edit: isOpen && service.edit,
    delete: isOpen && service.delete,
  };
}

/** Makes the link of a new record whose block offers one; it is stored with the record. Once for each record. */
export function issueOwnLink(run: Run, { definition }: Block, { id }: StoredRecord): void {
  if (!definition.selfService || knownLink(run, id) !== null) return;
  const { linkId, write } = run.services.links.issue({ key: keyOf(run), purpose: 'mine', id });
  run.unit.atCommit(write);
  run.links.set(nameOf(run, id), linkId);
}

/** Logic may change records of several apps with the same id. */
const nameOf = ({ app }: Pick<Run, 'app'>, id: string): string => JSON.stringify([app.id, id]);

/** The id of the link of a record of the run's app that this request has made or looked up; null without one. */
export const knownLink = (run: Pick<Run, 'app' | 'links'>, id: string): string | null =>
  run.links.get(nameOf(run, id)) ?? null;

/**
 * The run with the stored link of a record, for a mail about it: the request may be another one's, who must not get the link in its
 * answer.
 */
export async function withLink(run: Run, { definition }: Block, { id }: StoredRecord): Promise<Run> {
  if (!definition.selfService || knownLink(run, id) !== null) return run;
  const [own] = await run.unit.alongside(() => run.services.links.ofRecord({ key: keyOf(run), purpose: 'mine', id }));
  return own ? { ...run, links: new Map(run.links).set(nameOf(run, id), own.linkId) } : run;
}

/** The address of a record's link. @param linkId as `knownLink` has it */
export function ownAddress(
  { services, site, app }: { services: Pick<AppServices, 'links' | 'sites'>; site: Site; app: Pick<App, 'id'> },
  linkId: string,
): string {
  const token = services.links.token({ linkId, purpose: 'mine', key: { site: site.id, app: app.id } });
  return services.sites.urls.link(site, app.id, 'mine', token);
}

/**
 * The address that `{link}` stands for in texts about a record: of the link that this request has made, was opened by, or has looked up for
 * a mail; null without one.
 */
export function linkOfRecord(run: Run, record: RecordKey): string | null {
  const linkId = knownLink(run, record.id);
  if (linkId !== null) return ownAddress({ services: run.services, site: run.visit.site, app: run.app }, linkId);
  return ownsByLink(run.visit, run.app.id, record) ? (run.visit.own?.address ?? null) : null;
}

/** The address of a draft, with its token. */
export function draftAddress(
  { services, site, app }: { services: Pick<AppServices, 'drafts' | 'sites'>; site: Site; app: Pick<App, 'id'> },
  draftId: string,
): string {
  const token = services.drafts.token({ draftId, key: { site: site.id, app: app.id } });
  return services.sites.urls.link(site, app.id, 'draft', token);
}

/** The draft of a token as a request continues it. */
export function openDraft(
  services: Pick<AppServices, 'drafts' | 'sites'>,
  { site, app, draft }: { site: Site; app: App; draft: Draft },
): OpenDraft {
  return { app: app.id, block: draft.block, draft, address: draftAddress({ services, site, app }, draft.draftId) };
}

/** The draft that a request continues with the form of a block; null where it continues none. */
export function continuedDraft(
  { visit, app, depth }: Pick<Run, 'visit' | 'app' | 'depth'>,
  block: Block,
): OpenDraft | null {
  const { draft } = visit;
  return depth === 0 && draft?.app === app.id && draft.block === block.id ? draft : null;
}
