import type { Items } from '../../../../shared/json';
import { positioned } from '../../../../shared/positions';
import { notFound } from '../../common/errors';
import { type Awaitable, isPromise } from '../../common/time/awaitable';
import { shortWork } from '../../common/time/pace';
import { PausedError } from '../../logic';
import { valueInTitle } from '../elements';
import type { PageLocale } from '../locales';
import { layoutContext } from '../run/context-data';
import { errorMark, folderOf, notice, noticeMark } from '../run/diagnostics/failures';
import { traceFailure } from '../run/diagnostics/trace';
import { assetUrls, shownRecord } from '../run/files';
import { placesData } from '../run/places/rules';
import { redirectOf } from '../run/response';
import type { Run } from '../run/types';
import { localeOf, nameOf } from '../run/visits';
import type { Block } from '../types';
import { type BlockSession, titleText, withSession } from './block-session';
import { type DisplayOptions, type ElementContents, elementContents } from './display/element-contents';
import { draftHtml, formHtml, lostHtml, shutForm, waitingNote, whoMaySend } from './display/form';
import { formMessages } from './display/form-pages';
import { holdsEntries } from './sent/inputs';

/** The HTML of a block. */
export interface Rendered {
  html: string;
  /** Whether a part of it could not be shown. */
  failed: boolean;
  /** Whether it is the block's form; false for the mark of a paused block. */
  isForm: boolean;
  /** Of its page, as text. */
  title: string;
}

/** A displayed block, or the address that its logic redirects to. */
export type Displayed = Rendered | { redirect: string };

/**
 * Runs on_display, then the elements, then the layout, and puts the block's form around it. NotFoundError for a block
 * without a layout.
 */
export async function displayBlock(run: Run, block: Block, options: DisplayOptions): Promise<Displayed> {
  if (run.app.settings.visitor) run.visit.visitor?.begin();
  try {
    return await withSession(run, block, options.record, async (session) => {
      const redirect = await beforeElements(run, session);
      return redirect === null ? renderBlock(run, block, session, options) : { redirect };
    });
  } catch (error) {
    if (error instanceof PausedError)
      return { html: await errorMark(run, error), failed: true, isForm: false, title: block.id };
    throw error;
  }
}

/** Runs `on_display`, before all elements; returns the address it redirects to, or null. */
export async function beforeElements(run: Run, session: BlockSession): Promise<string | null> {
  const values = await session.run(['on_display']);
  return redirectOf(run, values.get('on_display'));
}

/** Elements and layout of a block whose `on_display` has run. */
export async function renderBlock(
  run: Run,
  block: Block,
  session: BlockSession,
  given: DisplayOptions,
): Promise<Rendered> {
  const options = given.record ? { ...given, record: await shownRecord(run, given.record) } : given;
  if (!block.layout) throw notFound(`The block "${block.id}" has no layout`);
  const places = block.definition.places && (await placesData(run, run.app, block));
  const shut = await shutForm(run, block, options, places);
  if (shut !== null) return { html: shut, failed: run.failures.length > 0, isForm: true, title: nameOf(block) };
  const layout = run.services.layouts.compile(block.layout);
  const placed = [...layout.elements, ...(block.definition.pages ?? []).flatMap((page) => [...page.elements])];
  const errors = options.submission?.errors;
  const messages = errors && (await shortWork(() => formMessages(block, errors, placed)));
  const contents = await elementContents(run, block, session, options, layout.elements, messages);
  // Only a layout that names the context can show its properties; for others the call to the sandbox is skipped.
  const properties = layout.namesContext ? await session.properties() : {};
  const locale = await localeOf(run);
  const context = layoutContext(run, block, { record: options.record, mode: options.mode, places });
  const rendered = layout.render({
    element: contents.element,
    context: withGetters(properties, context),
    variables: { block: context.block },
    debug: run.app.settings.debug,
    onUndefined: (name) => notice(run, block, `undeclared element "${name}" in ${block.layout?.path}`),
    onClock: (until) => run.visit.inputs?.readClock(until),
    onRandom: () => run.visit.inputs?.refuse('random'),
    locale,
    assetUrl: assetUrls(run.services, run.visit.site, { theme: run.app.folder.themeId, app: run.app.id }),
    onUnknownMessage: (key) => notice(run, block, `there is no message "${key}" in the catalogues of the app`),
    onUnknown: (name, at) => unknownVariable(run, block, locale, name, at),
  });
  const main = await rendered.catch((error) => {
    traceFailure(run, block, error);
    throw error;
  });
  const titled = pageTitle(run, block, contents, locale);
  const title = isPromise(titled) ? await titled : titled;
  const above = [
    whoMaySend(run, block, options, locale),
    waitingNote(run, block, options, { places, say: locale.say }),
    lostHtml(locale, options),
    messages?.above() ?? '',
  ];
  const whole = `${above.join('')}${main}${draftHtml(locale, options)}`;
  const { pages, refresh } = block.definition;
  const paged = pages === null ? undefined : await contents.paged();
  const isHeld = refresh === null ? false : await isEntered(block, options, contents, locale);
  const html = formHtml(run, block, options, { locale, main: whole, paged, isEntered: isHeld });
  return { html, failed: run.failures.length > 0, isForm: true, title };
}

/** Whether the form of a new record holds entries: such a block is not fetched again. */
const isEntered = async (
  block: Block,
  { record, mode, submission }: DisplayOptions,
  { usual }: ElementContents,
  locale: PageLocale,
): Promise<boolean> =>
  record === null && mode === 'input' && submission !== undefined && holdsEntries(block, submission, usual, locale);

/** Both together. What the second reads when it is asked for is not read here: only what a layout uses is noted. */
const withGetters = (given: Items, more: object): Items =>
  Object.keys(given).length === 0
    ? (more as Items)
    : Object.defineProperties({ ...given }, Object.getOwnPropertyDescriptors(more));

/** The definition's title, else the block's id. A block inside another one has no page. */
function pageTitle(run: Run, block: Block, { value }: ElementContents, locale: PageLocale): Awaitable<string> {
  const { title } = block.definition;
  if (title === null || run.depth > 0) return block.id;
  const undeclared = (name: string) => notice(run, block, `undeclared element "${name}" in the title`);
  const shown = async (name: string) => {
    const found = await value(name);
    return found === undefined ? found : valueInTitle(block.definition.elements.get(name), found, locale);
  };
  return titleText(title, shown, undeclared).then((text) => text || block.id);
}

/** The HTML shown for an undefined Liquid variable. */
function unknownVariable(
  run: Run,
  block: Block,
  locale: PageLocale,
  name: string,
  at: { path: string; line: number },
): string {
  const position = { file: at.path, line: at.line };
  const hint = block.definition.elements.has(name)
    ? `write {${name}} or {{ elements.${name} }}`
    : 'there are "elements" and "context"';
  const message = `the layout has no variable "${name}": ${hint}`;
  notice(run, block, message, position);
  return noticeMark(run, locale, positioned(message, position, folderOf(run.services, run.app.id)));
}
