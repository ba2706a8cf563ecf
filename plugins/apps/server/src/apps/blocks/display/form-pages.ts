import { shortWork } from '../../../common/time/pace';
import type { LayoutData } from '../../../layouts/types';
import {
  actionField,
  attributes,
  builtInActions,
  buttonHtml,
  buttonOf,
  escapeHtml,
  type FormFields,
  fieldsOf,
  isSecret,
  pageFields,
  type ReservedField,
  roleOf,
  textsOf,
} from '../../elements';
import type { PageLocale } from '../../locales';
import type { FormError } from '../../run/refusals';
import type { Run } from '../../run/types';
import { localeOf } from '../../run/visits';
import type { Block, Definition, ElementDefinition, FormPage } from '../../types';
import { groupHtml } from '../group';
import { namesOn, neighbour, type PageState } from '../sent/pages';
import type { DisplayOptions, ElementContents } from './element-contents';
import { DRAFT_BLOCK, formActionOf, formHtml, idPrefix } from './form';

/** The HTML of the elements of a page, by name; '' for what is not shown. */
type Contents = (name: string) => Promise<string>;

interface FormParts {
  definition: Definition;
  pages: readonly FormPage[];
  state: PageState;
  locale: Pick<PageLocale, 'say'>;
  /** Begins the id of the heading. */
  idPrefix: string;
  formAction: string | undefined;
  contents: Contents;
  /** The button that saves, and the one that saves a draft; '' without one. */
  save: string;
  draft: string;
}

/** One page of a form with its progress mark, buttons, and the fields of the other pages in hidden ones. */
async function pageHtml(parts: FormParts): Promise<string> {
  const { pages, state, locale, idPrefix, formAction, contents, save, draft } = parts;
  const { page, hidden, moved } = state;
  const shown = [...pages.keys()].filter((index) => !hidden.has(index) || index === page);
  const fields: string[] = [];
  for (const name of pages[page]?.elements ?? []) if (!isKeptAway(parts, name)) fields.push(await contents(name));
  const id = `${idPrefix}-page`;
  const heading = attributes({ id, class: 'apps-page-title', tabindex: '-1', autofocus: moved });
  const isFirst = neighbour(page, -1, pages.length, hidden) === page;
  const isLast = neighbour(page, 1, pages.length, hidden) === page;
  const button = (name: string, label: string, extra: object) =>
    `<button${attributes({ type: 'submit', class: `apps-action apps-page-${name.slice(1)}`, name, value: '1', formaction: formAction, ...extra, 'data-apps-stay': true })}>${escapeHtml(label)}</button>`;
  const back = isFirst ? '' : button(pageFields.back, locale.say('back'), { formnovalidate: true });
  const next = isLast ? save : button(pageFields.next, locale.say('next'), {});
  const title = escapeHtml(pages[page]?.title ?? '');
  const kept = await shortWork(() => keptFields(parts));
  return (
    `${kept}${steps(parts, shown)}<section class="apps-page" aria-labelledby="${escapeHtml(id)}">` +
    `<h2${heading}>${title}</h2>${fields.join(' ')}</section><p class="apps-page-actions">${[back, next, draft].filter(Boolean).join(' ')}</p>`
  );
}

/** Whether an element is left out: fields of earlier pages alone say that it is not shown, so that no script can change it. */
function isKeptAway({ definition, pages, state }: FormParts, name: string): boolean {
  if (!state.absent.has(name)) return false;
  const here = new Set(namesOn(definition, pages[state.page]));
  return Object.keys(definition.elements.get(name)?.showIf ?? {}).every((other) => !here.has(other));
}

function steps({ pages, state, locale }: FormParts, shown: readonly number[]): string {
  const items = shown.map((index) => {
    const current = attributes({ 'aria-current': index === state.page ? 'step' : undefined });
    return `<li${current}>${escapeHtml(pages[index]?.title ?? '')}</li>`;
  });
  const label = locale.say('step_of', { page: shown.indexOf(state.page) + 1, pages: shown.length });
  return `<ol${attributes({ class: 'apps-steps', 'aria-label': label })}>${items.join('')}</ol>`;
}

/** What was entered on other pages, in hidden fields. */
function keptFields({ definition, pages, state }: FormParts): string {
  const others = [...state.seen].filter((index) => index !== state.page);
  const names = new Set(others.flatMap((index) => namesOn(definition, pages[index])));
  const kept: string[] = [];
  for (const [name, value] of Object.entries(state.fields)) {
    const [own = name, , field] = name.split(':');
    if (!names.has(own)) continue;
    const element = definition.elements.get(own);
    const autocomplete = element && secretWords((field && fieldsOf(element)?.get(field)) || element);
    for (const text of textsOf(value)) kept.push(hidden(name, text, autocomplete));
  }
  const seen = [...state.seen].sort((a, b) => a - b).join(',');
  return `${hidden(pageFields.page, String(state.page))}${hidden(pageFields.seen, seen)}${kept.join('')}`;
}

/** The messages of a form that is shown again: beside their fields, the others above the form. */
export interface FormMessages {
  /** What an element's field shows; from then on it is not shown above the form. */
  beside(name: string): { error: string | null; autofocus: boolean };
  /** HTML of the messages that no field shows, '' for none. */
  above(): string;
}

/**
 * @param placed the elements of the layout in its order: the first wrong one gets the focus
 */
export function formMessages(block: Block, errors: readonly FormError[], placed: readonly string[]): FormMessages {
  const { elements } = block.definition;
  const byElement = new Map<string, string>();
  for (const { path, message } of errors) {
    const name = path.join(':');
    const before = byElement.get(name);
    byElement.set(name, before === undefined ? message : `${before} ${message}`);
  }
  // An entry of a repeated group has the name of the group before its own.
  const elementOf = (name: string) => elements.get(name.split(':', 1)[0] ?? name);
  const wrong = [...byElement.keys()].filter((name) => roleOf(elementOf(name)) === 'input');
  const order = new Map<string, number>();
  for (const name of placed) if (!order.has(name)) order.set(name, order.size);
  const orderOf = (name: string) => order.get(elementOf(name)?.name ?? '') ?? order.size;
  const [first] = wrong.map((name) => ({ name, order: orderOf(name) })).sort((a, b) => a.order - b.order);
  const shown = new Set<string>();
  return {
    beside(name) {
      shown.add(name);
      return { error: byElement.get(name) ?? null, autofocus: name === first?.name };
    },
    above() {
      const left = [...byElement].filter(([name]) => !shown.has(name));
      if (left.length === 0) return '';
      const texts = left.map(([name, message]) => {
        const label = elementOf(name)?.label;
        return `<p>${escapeHtml(label ? `${label}: ${message}` : message)}</p>`;
      });
      const focus = first !== undefined && shown.has(first.name) ? '' : ' autofocus';
      return `<div class="apps-errors" role="alert" tabindex="-1"${focus}>${texts.join('')}</div>`;
    },
  };
}

type Content = Awaited<ReturnType<LayoutData['element']>>;

/** The content of `{_pages}`: one page of the form, or for reading the fields of all pages below their titles. */
export async function pagesContent(
  run: Run,
  block: Block,
  pages: readonly FormPage[],
  options: DisplayOptions,
  { element, paged }: Pick<ElementContents, 'element' | 'paged'>,
): Promise<Content> {
  const { definition } = block;
  const htmlOf = async (name: string): Promise<string> => {
    const content = await element(name);
    return content && 'html' in content ? content.html : '';
  };
  const state = await paged();
  if (!state) {
    const sections: string[] = [];
    for (const page of pages) {
      const members: { definition: ElementDefinition; html: string }[] = [];
      for (const name of page.elements) {
        const own = definition.elements.get(name);
        if (own) members.push({ definition: own, html: await htmlOf(name) });
      }
      sections.push(groupHtml({ label: page.title }, members, 'text'));
    }
    return { html: sections.join('') };
  }
  const html = await pageHtml({
    definition,
    pages,
    state,
    locale: await localeOf(run),
    idPrefix: idPrefix(run, block, options),
    formAction: formActionOf(run, block, options),
    contents: htmlOf,
    save: await htmlOf('_save'),
    draft: await htmlOf('_draft'),
  });
  return { html };
}

/** The form field that names the action whose question was answered with yes. */
const ANSWERED = '_confirm' satisfies ReservedField;

/** Fields that the form gets again. */
const ownFields = new Set(['_csrf', '_website', '_shown', '_proof', ANSWERED, DRAFT_BLOCK]);

const answeredIn = (fields: FormFields) => [fields[ANSWERED]].flat().filter((name) => typeof name === 'string');

/** The action of a posted form that has a question (`confirm`) which was not answered yet; null if there is none. */
export function unanswered(block: Block, fields: FormFields): ElementDefinition | null {
  const answered = answeredIn(fields);
  const { elements, builtIn } = block.definition;
  for (const element of new Map([...builtIn, ...elements]).values()) {
    const isAsked = buttonOf(element).confirm && Object.hasOwn(fields, actionField(element.name));
    if (isAsked && !answered.includes(element.name)) return element;
  }
  return null;
}

/**
 * The block's form with the question of an action instead of its layout (docs/reference/definitions.md#confirm). It carries
 * all submitted fields, so that either answer keeps them. The browser script asks before it submits.
 */
export async function questionHtml(
  run: Run,
  block: Block,
  options: DisplayOptions,
  element: ElementDefinition,
  fields: FormFields,
): Promise<string> {
  const locale = await localeOf(run);
  const { name } = element;
  const { confirm = '' } = buttonOf(element);
  const isAction = (field: string) => field === actionField(name) || builtInActions.has(field) || ownFields.has(field);
  const entries = Object.entries(fields).flatMap(([field, value]) =>
    isAction(field) ? [] : [value].flat().map((one) => hidden(field, String(one ?? ''))),
  );
  const yes = buttonHtml({
    // Its question is asked.
    definition: { ...element, settings: { ...element.settings, confirm: undefined } },
    entered: [fields[actionField(name)]].flat().map(String),
    locale,
  });
  const answers = [...new Set([...answeredIn(fields), name])].map((one) => hidden(ANSWERED, one));
  const main =
    `<p class="apps-question">${escapeHtml(confirm)}</p>${entries.join('')}${answers.join('')}` +
    `<p>${yes} <button type="submit" class="apps-action apps-cancel" formnovalidate>${escapeHtml(locale.say('cancel'))}</button></p>`;
  return formHtml(run, block, options, { locale, main });
}

/** @param autocomplete tells the browser's script that it is a secret */
const hidden = (name: string, value: string, autocomplete?: string) =>
  `<input${attributes({ type: 'hidden', name, value, autocomplete })}>`;

const secretWords = (element: ElementDefinition): string | undefined =>
  isSecret(element) ? (element.settings as { autocomplete?: string }).autocomplete : undefined;
