import { didYouMean } from '../../common/did-you-mean';
import { roleOf, withCondition } from '../elements';
import type { ElementDefinition } from '../types';
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
    for (const member of element.members ?? []) {
      checkMember(elements, at.child(name), member, grouped);
      grouped.set(member, name);
      const own = elements.get(member) as ElementDefinition;
      related.set(member, withCondition(own, element));
    }
  }
  checkConditions(related, at);
  return related;
}

/** Checks that conditions name fields that are declared before; of repeated groups those of the same entry. */
export function checkConditions(elements: Elements, at: YamlNode): void {
  const before = new Set<string>();
  for (const [name, element] of elements) {
    for (const other of Object.keys(element.showIf ?? {})) {
      if (before.has(other)) continue;
      conditionAt(at.child(name), other).fail(
        `The condition names "${other}", which is no field that is declared before "${name}"${didYouMean(other, [...before])}`,
      );
    }
    if (element.entry) relate(element.entry, at.child(name).child('elements'));
    if (roleOf(element) === 'input') before.add(name);
  }
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
