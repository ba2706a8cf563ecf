import { itemOf } from '../../../../../shared/json';
import type { Region } from '../../../common/values/moments';
import { escapeHtml, pageFields } from '../../elements';
import { otherLanguage } from '../../locales';
import { blockAddress } from '../../run/context-data';
import { consoleOf } from '../../run/diagnostics/notices';
import { localeOf } from '../../run/locale';
import type { Run } from '../../run/types';
import type { Block } from '../../types';
import { isSaved, shownElements } from '../group';
import { shownInputs } from '../sent/entered';
import { storedDigest, VERSION, versionText } from '../sent/form-version';
import { firstPage, neighbour, pagesOf } from '../sent/pages';
import { fileFields } from '../sent/submitted-files';
import type { DisplayOptions } from './element-contents';
import { guardFields } from './form-guard';
import { isSaveDisabled } from './who-may-send';

/**
 * The form around a block (docs/reference/layouts.md#the-form-around-a-block). It posts to the address of the record
 * that it shows, or of the view of the request, or of the block. A block inside another one has no form, because forms do
 * not nest.
 */
export async function formHtml(run: Run, block: Block, options: DisplayOptions, main: string): Promise<string> {
  const { visit, services } = run;
  const { record } = options;
  const locale = await localeOf(run);
  const lang = otherLanguage(locale, visit.site);
  const version = versionField(run, block, options, locale);
  if (run.depth > 0)
    return `<div class="apps-record" data-apps-block="${escapeHtml(block.id)}"${lang}>${version}${main}</div>`;
  const action = record
    ? services.sites.urls.record(visit.site, run.app.id, record.id, visit.contentPath)
    : blockAddress(run, block.id);
  const classes = block.definition.target === 'ajax' ? 'apps-block apps-target-ajax' : 'apps-block';
  return (
    `<form name="${escapeHtml(block.id)}" class="${classes}" action="${escapeHtml(action)}" method="post"${hasFiles(block, options) ? ' enctype="multipart/form-data"' : ''}` +
    ` data-apps-settings='${settingsAttribute(run, block, options)}'${lang}>` +
    `<input type="hidden" name="_csrf" value="${escapeHtml(visit.csrfToken())}">${guardFields(run, block, locale)}${version}${defaultButton(run, block, options)}${main}</form>`
  );
}

/**
 * The button that the Enter key presses: browsers take the first one of a form, which would be one that changes a repeated
 * group.
 */
function defaultButton(run: Run, block: Block, options: DisplayOptions): string {
  const { elements } = block.definition;
  const pages = pagesOf(block, shownElements(run, block));
  const hasButtons = pages.length > 0 || [...elements.values()].some(({ entry }) => entry);
  if (options.mode !== 'input' || !hasButtons || !isSaved(run, block)) return '';
  const { page, hidden } = options.paged ?? firstPage(block.definition, pages, options.record);
  const isLast = neighbour(page, 1, pages.length, hidden) === page;
  const name = isLast ? '_save' : pageFields.next;
  const more = isLast ? (isSaveDisabled(run, options) ? ' disabled' : '') : ' data-apps-stay';
  return `<button type="submit" name="${name}" value="1" tabindex="-1" hidden${more}></button>`;
}

/** The version of the record whose form is shown (docs/reference/layouts.md#two-people-who-edit-one-record). */
function versionField(run: Run, block: Block, options: DisplayOptions, region: Region): string {
  const { record, mode, submission, version } = options;
  if (!record || mode !== 'input' || !isSaved(run, block)) return '';
  const digests = shownInputs(block, shownElements(run, block)).map((element): [string, string] => {
    const { name } = element;
    const sent = submission?.entered.has(name) ? version?.digests.get(name) : undefined;
    return [name, sent ?? storedDigest(element, itemOf(record.items, name), region)];
  });
  return `<input type="hidden" name="${VERSION}" value="${escapeHtml(versionText(record, digests))}">`;
}

/** Whether a form may send files. */
const hasFiles = ({ definition }: Block, { mode }: DisplayOptions): boolean =>
  mode === 'input' && fileFields(definition).size > 0;

/** Settings of the browser script, with the run's console entries so far. */
function settingsAttribute(run: Run, block: Block, options: DisplayOptions): string {
  const { debug } = run.app.settings;
  const { target } = block.definition;
  const settings = { app: run.app.id, block: block.id, target, debug, ...freshness(run, block, options) };
  const log = consoleOf(run);
  const json = JSON.stringify(debug || log.length > 0 ? { ...settings, log } : settings);
  return json.replace(/&/g, '&amp;').replace(/'/g, '&#39;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** When the block reloads; a form that shows entries, messages or a record's inputs does not. */
function freshness(
  { reads, since, services }: Run,
  block: Block,
  { record, mode, submission }: DisplayOptions,
): object {
  const { refresh } = block.definition;
  const holdsEntries = [...(submission?.entered.values() ?? [])].some((texts) => texts.some((text) => text !== ''));
  const isKept = holdsEntries || (submission?.errors.length ?? 0) > 0 || (record && mode === 'input');
  if (refresh === null || isKept) return {};
  if (refresh !== 'on-change') return { refresh };
  const { live, any } = reads.list();
  const [tokens, wider] = [live.map(services.live.token), any.map(services.live.token)];
  return { refresh, since, live: tokens, ...(wider.join().length < tokens.join().length && { any: wider }) };
}
