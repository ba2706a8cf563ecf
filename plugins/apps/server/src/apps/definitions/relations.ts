import { didYouMean } from '../../common/text';
import { comparedAsNumber, fieldsOf, isNumeric, membersOf, roleOf, withCondition, withFields } from '../elements';
import type { Condition, ElementDefinition } from '../types';
import { isMapping } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';

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
export function withConditions(elements: Elements, at: YamlNode): Map<string, ElementDefinition> {
  const before = new Map<string, ElementDefinition>();
  const checked = new Map<string, ElementDefinition>();
  for (const [name, element] of elements) {
    const showIf = Object.entries(element.showIf ?? {}).map(([other, condition]): [string, Condition] => {
      const named = before.get(other) ?? notBefore(at, name, other, before);
      return [other, isNumeric(named) ? comparedAsNumber(condition) : condition];
    });
    const fields = fieldsOf(element);
    checked.set(name, {
      ...(fields ? withFields(element, relate(fields, at.child(name).child('elements'))) : element),
      ...(element.showIf && { showIf: Object.fromEntries(showIf) }),
    });
    if (roleOf(element) === 'input') before.set(name, element);
  }
  return checked;
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
