import type { LayoutData } from '../../../layouts/types';
import {
  actionField,
  attributes,
  builtInActions,
  buttonHtml,
  buttonOf,
  escapeHtml,
  type FormFields,
} from '../../elements';
import { localeOf } from '../../run/site-locale';
import type { Run } from '../../run/types';
import type { Block, ElementDefinition, FormPage } from '../../types';
import { groupHtml } from '../group';
import { firstPage } from '../sent/pages';
import { DRAFT_BLOCK } from './draft-html';
import type { DisplayOptions } from './element-contents';
import { formHtml } from './form';
import { formActionOf, idPrefix } from './form-address';
import { pageHtml } from './form-pages';

type Content = Awaited<ReturnType<LayoutData['element']>>;

/** The content of `{_pages}`: one page of the form, or for reading the fields of all pages below their titles. */
export async function pagesContent(
  run: Run,
  block: Block,
  pages: readonly FormPage[],
  options: DisplayOptions,
  element: LayoutData['element'],
): Promise<Content> {
  const { definition } = block;
  const htmlOf = async (name: string): Promise<string> => {
    const content = await element(name);
    return content && 'html' in content ? content.html : '';
  };
  if (options.mode === 'text') {
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
    state: options.paged ?? firstPage(definition, pages, options.record),
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
const ANSWERED = '_confirm';

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
  return formHtml(run, block, options, main);
}

const hidden = (name: string, value: string) => `<input${attributes({ type: 'hidden', name, value })}>`;
