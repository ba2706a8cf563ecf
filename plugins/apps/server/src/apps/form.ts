import type { DisplayOptions } from './element-contents';
import { escapeHtml } from './elements';
import { liveTopics } from './embed-live';
import { consoleOf } from './notices';
import type { Run } from './run';
import type { Block } from './types';

/**
 * The form around a block, as contract section 10 gives it. It posts to the record's address when it shows a record,
 * else to the view's by which it was reached, else to the block's. A block inside another one is no form, for forms do not nest.
 */
export function formHtml(run: Run, block: Block, options: DisplayOptions, main: string): string {
  const { visit, services } = run;
  const { record } = options;
  if (run.depth > 0) return `<div class="apps-record" data-apps-block="${escapeHtml(block.id)}">${main}</div>`;
  const action = record
    ? services.sites.urls.record(visit.site, run.app.id, record.id, visit.contentPath)
    : blockAddress(run, block.id);
  const classes = block.definition.target === 'ajax' ? 'apps-block apps-target-ajax' : 'apps-block';
  return (
    `<form name="${escapeHtml(block.id)}" class="${classes}" action="${escapeHtml(action)}" method="post"` +
    ` data-apps-settings='${settingsAttribute(run, block, options)}'>` +
    `<input type="hidden" name="_csrf" value="${escapeHtml(visit.csrfToken())}">${main}</form>`
  );
}

/** The address at which the page's block is shown again: that of the view by which it was reached, else its own. */
export function blockAddress({ app, visit, services }: Pick<Run, 'app' | 'visit' | 'services'>, block: string): string {
  const { urls } = services.sites;
  if (visit.view !== undefined) return urls.view(visit.site, visit.view, visit.contentPath);
  return urls.block(visit.site, app.id, block, visit.contentPath);
}

/** What the browser script needs to know, and what the visitor's console shows of the run so far. */
function settingsAttribute(run: Run, block: Block, options: DisplayOptions): string {
  const { debug } = run.app.settings;
  const { target } = block.definition;
  const settings = { app: run.app.id, block: block.id, target, debug, ...freshness(run, block, options) };
  const log = consoleOf(run);
  const json = JSON.stringify(debug || log.length > 0 ? { ...settings, log } : settings);
  return json.replace(/&/g, '&amp;').replace(/'/g, '&#39;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** How the block keeps itself fresh; a form that somebody is filling in does not. */
function freshness({ reads, services }: Run, block: Block, { record, mode, submission }: DisplayOptions): object {
  const { refresh } = block.definition;
  if (refresh === null || submission || (record && mode === 'input')) return {};
  return refresh === 'on-change' ? { refresh, live: liveTopics(reads).map(services.live.token) } : { refresh };
}
