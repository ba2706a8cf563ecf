import { memoized } from '../../common/collections';
import type { CompiledLayout } from '../../layouts/types';
import { attributes, escapeHtml, membersOf, outerAttributes } from '../elements';
import type { AppServices } from '../run/types';
import type { Block, ElementDefinition } from '../types';
import { pagesOf } from './sent/pages';

/** A member of a group, rendered. */
interface Member {
  definition: ElementDefinition;
  html: string;
}

/** A group for entering: a fieldset with its heading. For reading: the labels and values. */
export function groupHtml(
  group: Pick<ElementDefinition, 'label' | 'help' | 'class' | 'showIf'>,
  members: readonly Member[],
  mode: 'input' | 'text',
): string {
  const { label, help } = group;
  const names = group.class ? `apps-group ${group.class}` : 'apps-group';
  const note = help ? `<p class="apps-help">${escapeHtml(help)}</p>` : '';
  if (mode === 'input') {
    const legend = label ? `<legend>${escapeHtml(label)}</legend>` : '';
    return `<fieldset${outerAttributes(names, group)}>${legend}${note}${members.map(({ html }) => html).join(' ')}</fieldset>`;
  }
  const shown = members.filter(({ html }) => html !== '');
  if (shown.length === 0) return '';
  const rows = shown.map(
    ({ definition, html }) => `<div><dt>${escapeHtml(definition.label ?? definition.name)}</dt><dd>${html}</dd></div>`,
  );
  const heading = label ? `<h2>${escapeHtml(label)}</h2>` : '';
  return `<section${attributes({ class: names })}>${heading}<dl>${rows.join('')}</dl></section>`;
}

/** Whether a layout shows an element: by itself, in a group, or on a page of the form. */
function showsWithGroups(block: Block, inLayout: (name: string) => boolean): (name: string) => boolean {
  const { definition } = block;
  const members = new Set<string>();
  const pages = pagesOf(block, inLayout);
  const onPages = new Set(pages.flatMap((page) => [...page.elements]));
  if (pages.length > 0) members.add('_save');
  const shows = (name: string) => onPages.has(name) || inLayout(name);
  for (const element of definition.elements.values())
    if (shows(element.name)) for (const name of membersOf(element)) members.add(name);
  return (name) => members.has(name) || shows(name);
}

/** By layout and block. */
const shown = memoized((layout: CompiledLayout) => memoized((block: Block) => showsWithGroups(block, layout.shows)));

/** Whether the block's layout shows an element; false without a layout. */
export function shownElements(
  { services }: { services: Pick<AppServices, 'layouts'> },
  block: Block,
): (name: string) => boolean {
  return block.layout ? shown(services.layouts.compile(block.layout))(block) : () => false;
}

/** Whether the block's form can be saved. */
export const isSaved = (run: { services: Pick<AppServices, 'layouts'> }, block: Block): boolean =>
  block.definition.elements.has('_save') || shownElements(run, block)('_save');
