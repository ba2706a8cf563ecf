import { AppsError } from '../errors';
import { isPaused } from '../logic';
import { type BlockSession, withSession } from './block-session';
import { portalData } from './context-data';
import { type DisplayOptions, elementContents } from './element-contents';
import { errorMark, folderOf, noticeMark } from './error-mark';
import { noteFailure } from './failures';
import { formHtml } from './form';
import { notice } from './notices';
import { redirectOf } from './response';
import type { Run } from './run';
import type { Block } from './types';

export { withSession };

/** A displayed block: its form's HTML, or the address that its logic redirects to. */
export type Displayed = { html: string } | { redirect: string };

/**
 * The spine of a page: on_display, then the elements, then the layout, in the block's form.
 * NotFoundError for a block without a layout.
 */
export async function displayBlock(run: Run, block: Block, options: DisplayOptions): Promise<Displayed> {
  try {
    return await withSession(run, block, options.record, async (session) => {
      const redirect = await beforeElements(run, session);
      return redirect === null ? { html: await renderBlock(run, block, session, options) } : { redirect };
    });
  } catch (error) {
    if (isPaused(error)) return { html: errorMark(run, error) };
    throw error;
  }
}

/** Runs `on_display`, which comes before all elements; the address it redirects to, or null. */
export async function beforeElements(run: Run, session: BlockSession): Promise<string | null> {
  const values = await session.run(['on_display']);
  return redirectOf(run, values.get('on_display'));
}

/** Elements and layout of a block whose `on_display` has run. */
export async function renderBlock(
  run: Run,
  block: Block,
  session: BlockSession,
  options: DisplayOptions,
): Promise<string> {
  if (!block.layout) throw new AppsError('NotFoundError', `The block "${block.id}" has no layout`);
  const layout = run.services.layouts.compile(block.layout);
  const contents = await elementContents(run, block, session, options, layout.elements);
  // Only a layout that names the context can show what logic has set on it: others spare the way to the sandbox.
  const properties = /\bcontext\b/.test(block.layout.text) ? await session.properties() : {};
  const rendered = layout.render({
    element: contents,
    context: { ...properties, ...layoutContext(run, block, options) },
    debug: run.app.settings.debug,
    onUndefined: (name) => notice(run, block, `undeclared element "${name}" in ${block.layout?.path}`),
    onUnknown: (name, line) => unknownVariable(run, block, name, line),
  });
  const main = await rendered.catch((error) => {
    noteFailure(block, error);
    throw error;
  });
  return formHtml(run, block, options, main);
}

/** The HTML shown for a variable that Liquid does not know. */
function unknownVariable(run: Run, block: Block, name: string, line: number): string {
  const place = { file: block.layout?.path ?? '', line };
  const hint = block.definition.elements.has(name)
    ? `write {${name}} or {{ elements.${name} }}`
    : 'there are "elements" and "context"';
  const message = `the layout has no variable "${name}": ${hint}`;
  notice(run, block, message, place);
  return noticeMark(run, `${folderOf(run.services, run.app.id)}${place.file}:${line}: ${message}`);
}

/** What Liquid sees as `context`: plain data only. */
function layoutContext(run: Run, block: Block, { record, mode }: DisplayOptions): { [key: string]: unknown } {
  const { site, content, request, parentRequest, requester, params } = run.visit;
  const { sites } = run.services;
  const at = run.visit.contentPath;
  return {
    app: { id: run.app.id, url: sites.urls.app(site, run.app.id, at) },
    block: { id: block.id, url: sites.urls.block(site, run.app.id, block.id, at) },
    record: record && { ...record.items, id: record.id, url: sites.urls.record(site, run.app.id, record.id, at) },
    /** `input` shows fields, `text` values: a layout may have labels of its own. */
    mode,
    request,
    parent_request: parentRequest,
    portal: portalData(site),
    content: { ...content.fields, ...content, fields: content.fields },
    user: requester.profile,
    params,
  };
}
