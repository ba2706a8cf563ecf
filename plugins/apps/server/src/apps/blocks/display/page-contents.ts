import type { LayoutData } from '../../../layouts/types';
import { localeOf } from '../../run/locale';
import type { Run } from '../../run/types';
import type { Block, ElementDefinition, FormPage } from '../../types';
import { groupHtml } from '../group';
import { pageHtml } from '../html/pages';
import { firstPage } from '../sent/pages';
import type { DisplayOptions } from './element-contents';
import { formActionOf, idPrefix } from './form-address';

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
      const heading = { name: '', type: 'GROUP', label: page.title, position: { file: '' } };
      sections.push(groupHtml(heading, members, 'text'));
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
  });
  return { html };
}
