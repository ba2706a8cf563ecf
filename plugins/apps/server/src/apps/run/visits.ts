import { createHash } from 'node:crypto';
import type { Items } from '../../../../shared/json';
import { allows, rightsOf } from '../../auth';
import type { Requester } from '../../auth/types';
import { AppsError, missing, notFound } from '../../common/errors';
import type { Provenance } from '../../records';
import type { UnitObserver } from '../../records/types';
import type { DryWrites, RunDetail } from '../../runs';
import type { Site } from '../../sites/types';
import { localeFor, type PageLocale } from '../locales';
import type { App, Block } from '../types';
import type { AppServices, Run, Visit } from './types';

/** Who changes records in a visit, and through what: the one place that says so for the history. */
export function provenanceOf({ requester, through }: Visit): Provenance {
  return { requester: () => requester.identity, through };
}

/** A request whose writes are switched off: what it would have written, and its runs. */
export interface DryRun {
  writes: DryWrites;
  runs: RunDetail[];
  /** Whether logic sees records of its own app, too, with the requester's rights only: it was written by who may not see them. */
  isGuarded: boolean;
}

/** Records, mails, changes of content and jobs that are listed, each. */
const MAX_LISTED = 200;

export const newDryRun = ({ isGuarded = false } = {}): DryRun => ({
  writes: { records: [], mails: [], content: [], jobs: [] },
  runs: [],
  isGuarded,
});

/** Lists the records that a work changes. Ids come with the write, items after it. */
export function observeWrites({ writes: { records } }: DryRun): UnitObserver {
  let written = '';
  return {
    onWrite(_key, id) {
      written = id;
    },
    onItems({ app }, before, after) {
      if (records.length < MAX_LISTED) records.push({ app, id: written, before: copy(before), after: copy(after) });
    },
  };
}

const copy = (items: Items | null): Items | null => items && (JSON.parse(JSON.stringify(items)) as Items);

/** Lists the mails of a run, which are not stored. */
export function listMails({ mails }: Run, { writes }: DryRun): void {
  for (const { key, mail } of mails.slice(0, MAX_LISTED - writes.mails.length))
    writes.mails.push({ app: key.app, to: mail.to, subject: mail.subject, text: mail.text });
}

/** Lists the jobs of a run, which are not stored. */
export function listJobs({ jobs }: Run, { writes }: DryRun): void {
  for (const { key, kind, name, data, jobKey, dueAt } of jobs.slice(0, MAX_LISTED - writes.jobs.length))
    writes.jobs.push({
      app: key.app,
      kind,
      name,
      data,
      key: jobKey,
      dueAt: dueAt === null ? null : new Date(dueAt).toISOString(),
    });
}

/** Lists a change of content and refuses it: the host's own code would otherwise act on it before the rollback. */
export function refuseContent({ writes: { content } }: DryRun, type: string, method: string, params: Items): never {
  if (content.length < MAX_LISTED) content.push({ type, method, params: copy(params) ?? {} });
  throw new AppsError('ForbiddenError', `Writes are switched off: ${method} of ${type} was not carried out`);
}

/** The 401 or 403 for a requester who lacks a right. */
export function refusal(requester: Requester, what: string): AppsError {
  return requester.kind === 'anonymous'
    ? new AppsError('UnauthorizedError', `Please log in to ${what}`)
    : new AppsError('ForbiddenError', `You are not allowed to ${what}`);
}

/** Who sees a block, and what they hold. */
interface Seer {
  visit: Pick<Visit, 'requester' | 'own'>;
}

/**
 * The block, valid and permitted. NotFoundError for an unknown one, its DefinitionError for a broken one, 401 or 403
 * where `view_permission` refuses the requester (docs/reference/rights.md#blocks-view_permission).
 */
export function permittedBlock(run: Pick<Run, 'app' | 'rights'> & Seer, blockId: string): Block {
  const block = run.app.blocks.get(blockId);
  if (!block) throw notFound(missing.block(blockId, run.app.id));
  return requireBlock(run, block);
}

/**
 * The block, if its logic may run for the requester; all code that runs a block's logic calls this. Throws the
 * DefinitionError of the app's settings or of the block if they are broken; 401 for anonymous and 403 for others whom `view_permission` does not name.
 */
export function requireBlock(run: Pick<Run, 'app' | 'rights'> & Seer, block: Block): Block {
  const error = run.app.error ?? block.error;
  if (error) throw error;
  // Who holds the link of a record may use its form.
  const { own } = run.visit;
  if (own?.app === run.app.id && own.block === block.id) return block;
  const list = block.definition.viewPermission;
  if (list && !run.rights.manager && !allows(run.visit.requester, list)) throw new ForbiddenBlock(run, block);
  return block;
}

/** 401 or 403 for a requester whom `view_permission` of a block does not name. */
export class ForbiddenBlock extends AppsError {
  constructor({ visit }: Seer, block: Block) {
    const { name, message } = refusal(visit.requester, `see "${nameOf(block)}"`);
    super(name, message);
  }
}

/** As visitors know the block: its title where that is the same for all, else its id. */
export function nameOf({ id, definition: { title } }: Block): string {
  return title === null || title.includes('{') ? id : title;
}

/** Who owns: a requester, and on a site the visitor whose cookie the browser has sent. */
type OwnerVisit = Pick<Visit, 'requester' | 'visitor'> & { site: Pick<Visit['site'], 'id'> };

/**
 * The creator of the records that belong to the requester (docs/reference/rights.md#own-records): the requester's identity; of an
 * anonymous visitor of an app with `visitor: true` a digest of their cookie, from which no cookie can be made. '' for those who own
 * nothing: others, and visitors without a cookie. It is looked at only where something depends on it, because a kept rendering is then
 * this visitor's alone.
 */
export function ownerOf({ requester, site, visitor }: OwnerVisit, settings: Pick<App['settings'], 'visitor'>): string {
  if (requester.kind !== 'anonymous' || requester.identity !== '') return requester.identity;
  const id = settings.visitor ? (visitor?.id() ?? null) : null;
  if (id === null) return '';
  const digest = createHash('sha256')
    .update(JSON.stringify([site.id, id]))
    .digest('base64url');
  return `visitor:${digest.slice(0, 22)}`;
}

/**
 * Who makes a record in an app: its owner; null for none. Whose account is not known and who continues a draft makes it for the owner of
 * the draft, on any device (docs/decisions/drafts.md).
 */
export function makerOf({
  visit,
  app,
}: {
  visit: OwnerVisit & Pick<Visit, 'draft'>;
  app: Pick<App, 'id' | 'settings'>;
}): string | null {
  const isKnown = visit.requester.kind !== 'anonymous' || visit.requester.identity !== '';
  const owner = !isKnown && visit.draft?.app === app.id ? visit.draft.draft.owner : null;
  return owner ?? (ownerOf(visit, app.settings) || null);
}

/** The run with the settings of `app` and its requester's rights there, in the same attempt: for what its records ask for. */
export function runIn(run: Run, app: App): Run {
  if (app.id === run.app.id) return run;
  const rights = rightsOf(run.visit.requester, app.settings.acl, () => ownerOf(run.visit, app.settings));
  return { ...run, app, rights };
}

/** The locale of a block of a run. */
export function localeOf({ visit, app }: Pick<Run, 'visit' | 'app'>): Promise<PageLocale> {
  return localeFor(visit.site, app.folder.files, app.folder.themeFiles);
}

const noFiles = new Map<string, never>();

/**
 * The language of the site's own pages: logins, errors, thanks (docs/reference/languages.md#the-language-of-a-page). A theme that
 * cannot be read counts as one without messages.
 */
export async function siteLocale({ sites }: Pick<AppServices, 'sites'>, site: Site): Promise<PageLocale> {
  const theme = await sites.theme(site).catch(() => null);
  return theme ? localeFor(site, theme.files) : plainLocale(site);
}

/** The same without the theme's words, where the theme or the database must not be asked. */
export const plainLocale = (site: Pick<Site, 'locale' | 'timeZone'>): Promise<PageLocale> => localeFor(site, noFiles);
