import { attributes, conditionJson, escapeHtml } from '../elements';
import type { Block, ElementDefinition } from '../types';

/** A member of a group, rendered. */
interface Member {
  definition: ElementDefinition;
  html: string;
}

/** A group for entering: a fieldset with its heading. For reading: the labels and values. */
export function groupHtml(group: ElementDefinition, members: readonly Member[], mode: 'input' | 'text'): string {
  const { label, help } = group;
  const own = { class: group.class ? `apps-group ${group.class}` : 'apps-group' };
  const note = help ? `<p class="apps-help">${escapeHtml(help)}</p>` : '';
  if (mode === 'input') {
    const legend = label ? `<legend>${escapeHtml(label)}</legend>` : '';
    const attrs = attributes({ ...own, 'data-apps-show-if': conditionJson(group) });
    return `<fieldset${attrs}>${legend}${note}${members.map(({ html }) => html).join(' ')}</fieldset>`;
  }
  const shown = members.filter(({ html }) => html !== '');
  if (shown.length === 0) return '';
  const rows = shown.map(
    ({ definition, html }) => `<div><dt>${escapeHtml(definition.label ?? definition.name)}</dt><dd>${html}</dd></div>`,
  );
  const heading = label ? `<h2>${escapeHtml(label)}</h2>` : '';
  return `<section${attributes(own)}>${heading}<dl>${rows.join('')}</dl></section>`;
}

/** Whether a layout shows an element, by itself or in a group. */
export function showsWithGroups({ definition }: Block, shows: (name: string) => boolean): (name: string) => boolean {
  const members = new Set<string>();
  for (const element of definition.elements.values())
    if (element.members && shows(element.name)) for (const name of element.members) members.add(name);
  return (name) => members.has(name) || shows(name);
}
