import { z } from 'zod';
import { didYouMean } from '../../common/text';
import {
  builtInActions,
  comparedAs,
  fieldsOf,
  isNumeric,
  isTruth,
  membersOf,
  roleOf,
  showIfSetting,
  withCondition,
  withFields,
} from '../elements';
import type { ElementCondition, ElementDefinition, FormPage } from '../types';
import type { YamlNode } from '../yaml';
import { boundedList, type Check, caption, check, isMapping, mapping } from '../yaml-schema';

type Elements = ReadonlyMap<string, ElementDefinition>;

/**
 * Checks what elements say of each other, and gives the elements of a group its condition. A condition names inputs that are
 * declared before it, so that conditions form no circle; a group names inputs and actions, each in one group only.
 */
export function relate(elements: Elements, at: YamlNode): Map<string, ElementDefinition> {
  const related = new Map(elements);
  const grouped = new Map<string, string>();
  for (const [name, element] of elements) {
    for (const member of membersOf(element)) {
      checkMember(elements, at.child(name), member, grouped);
      grouped.set(member, name);
      const own = elements.get(member) as ElementDefinition;
      related.set(member, withCondition(own, element));
    }
  }
  return withConditions(related, at);
}

/**
 * The elements with conditions that compare as the named fields do. DefinitionError where a condition names no field that is
 * declared before; of repeated groups one of the same entry.
 */
function withConditions(elements: Elements, at: YamlNode): Map<string, ElementDefinition> {
  const before = new Map<string, ElementDefinition>();
  const checked = new Map<string, ElementDefinition>();
  for (const [name, element] of elements) {
    const names = Object.keys(element.showIf ?? {});
    const named = new Map(names.map((other) => [other, before.get(other) ?? notBefore(at, name, other, before)]));
    const fields = fieldsOf(element);
    checked.set(name, {
      ...(fields ? withFields(element, relate(fields, at.child(name).child('elements'))) : element),
      ...(element.showIf && { showIf: comparing(element.showIf, named) }),
    });
    if (roleOf(element) === 'input') before.set(name, element);
  }
  return checked;
}

type Conditions = Readonly<Record<string, ElementCondition>>;

/** @returns the same object, where all are compared as texts: elements that share it are shown with one text */
function comparing(showIf: Conditions, named: ReadonlyMap<string, ElementDefinition>): Conditions {
  const howOf = (one: ElementDefinition | undefined) =>
    one && (isNumeric(one) ? 'isNumber' : isTruth(one) ? 'isTruth' : undefined);
  const changed = Object.entries(showIf).flatMap(([name, one]): [string, ElementCondition][] => {
    const how = howOf(named.get(name));
    return how ? [[name, comparedAs(how, one)]] : [];
  });
  return changed.length > 0 ? { ...showIf, ...Object.fromEntries(changed) } : showIf;
}

function notBefore(at: YamlNode, name: string, other: string, before: Elements): never {
  const near = didYouMean(other, [...before.keys()]);
  return conditionAt(at.child(name), other).fail(
    `The condition names "${other}", which is no field that is declared before "${name}"${near}`,
  );
}

/** Where an element's condition names another one; it may have come from its group or page. */
function conditionAt(at: YamlNode, other: string): YamlNode {
  const isOwn = isMapping(at.value) && Object.hasOwn(Object(at.value.show_if), other);
  return isOwn ? at.child('show_if') : at;
}

function checkMember(elements: Elements, at: YamlNode, member: string, grouped: ReadonlyMap<string, string>): void {
  const role = roleOf(elements.get(member));
  const where = at.child('elements');
  if (!role) where.fail(`There is no element "${member}"${didYouMean(member, [...elements.keys()])}`);
  if (role === 'group') where.fail(`"${member}" is a group: groups do not stand in each other`);
  if (grouped.has(member)) where.fail(`"${member}" is in the group "${grouped.get(member)}" already`);
}

/** Pages of a form, and elements of one. */
const MAX = { pages: 20, elements: 200 };

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
      if (!element || builtInActions.has(name))
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
