import { z } from 'zod';
import { didYouMean } from '../../common/text';
import { membersOf, PAGES, pageFields, showIfSetting, withCondition } from '../elements';
import type { ElementDefinition, FormPage } from '../types';
import { type Check, check } from '../yaml/check';
import { boundedList, caption, mapping } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';
import { withConditions } from './relations';

type Elements = ReadonlyMap<string, ElementDefinition>;

/** Pages of a form, and elements of one. */
const MAX = { pages: 20, elements: 200 };

/** Names that a form with pages has for itself. */
const OWN_NAMES = [PAGES, ...Object.values(pageFields)];

const NOT_NAMES = 'This must be a list of names of elements';

const names = check<string[]>(
  boundedList(MAX.elements, `A page has at most ${MAX.elements} elements`, z.array(z.string(NOT_NAMES), NOT_NAMES)),
);

const page = mapping({
  title: caption,
  elements: names,
  show_if: showIfSetting.show_if?.check as Check<FormPage['showIf']>,
});

const NOT_PAGES = 'This must be a list of pages, each with "title" and "elements"';

/** The key `pages` of a definition (docs/reference/definitions.md#pages); their elements are checked by `placeOnPages`. */
export const pages = check(
  boundedList(MAX.pages, `A form has at most ${MAX.pages} pages`, z.array(page.schema, NOT_PAGES)),
  (value, at): FormPage[] => {
    if (value.length === 0) at.fail(NOT_PAGES);
    return value.map((one, index) => {
      const { title, elements, show_if: showIf } = page.read(one, at.child(index));
      if (title === undefined || title.trim() === '') return at.child(index).fail('A page needs a "title"');
      if (!elements || elements.length === 0) return at.child(index).fail('A page needs "elements"');
      return { title, elements, ...(showIf && { showIf }) };
    });
  },
);

/**
 * Gives the elements of each page its condition. An element is on one page only, the elements of a group with their group;
 * a condition names fields of the same page or of one before, because those after it are not filled in yet.
 */
export function placeOnPages(elements: Elements, list: readonly FormPage[], root: YamlNode): Elements {
  const own = OWN_NAMES.find((name) => elements.has(name));
  if (own) root.child('elements').child(own).fail(`A form with pages has a field "${own}" of its own`);
  const groupOf = new Map(
    [...elements.values()].flatMap((element) => membersOf(element).map((one) => [one, element.name])),
  );
  const pageOf = new Map<string, number>();
  const placed = new Map(elements);
  for (const [index, { elements: given, showIf }] of list.entries()) {
    const at = root.child('pages').child(index).child('elements');
    for (const [position, name] of given.entries()) {
      const element = elements.get(name);
      const where = at.child(position);
      if (!element || name.startsWith('_'))
        return where.fail(`There is no element "${name}"${didYouMean(name, [...elements.keys()])}`);
      if (pageOf.has(name)) where.fail(`"${name}" is on page ${(pageOf.get(name) ?? 0) + 1} already`);
      if (groupOf.has(name)) where.fail(`"${name}" is in the group "${groupOf.get(name)}": put the group on the page`);
      for (const one of [name, ...membersOf(element)]) {
        pageOf.set(one, index);
        const before = placed.get(one);
        if (before && showIf) placed.set(one, withCondition(before, { showIf }));
      }
    }
  }
  const checked = withConditions(placed, root.child('elements'));
  for (const [name, { showIf }] of checked) {
    const own = pageOf.get(name);
    const later = Object.keys(showIf ?? {}).find(
      (other) => (pageOf.get(other) ?? -1) > (own ?? Number.POSITIVE_INFINITY),
    );
    if (later !== undefined)
      root.child('elements').child(name).fail(`The condition of "${name}" names "${later}", which is on a later page`);
  }
  for (const [index, { showIf }] of list.entries()) {
    const wrong = Object.keys(showIf ?? {}).find((name) => (pageOf.get(name) ?? -1) >= index);
    const at = root.child('pages').child(index).child('show_if');
    if (wrong !== undefined) at.fail(`The condition of a page names fields of pages before it, not "${wrong}"`);
  }
  return checked;
}
