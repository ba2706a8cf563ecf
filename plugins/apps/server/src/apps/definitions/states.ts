import { didYouMean } from '../../common/text';
import type { ElementDefinition, State, States } from '../types';
import { type Check, check } from '../yaml/check';
import { caption, mapping, named, names } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';
import { notify } from './automation';

/** States of a block. A page of a record has a button for each way out of one. */
export const MAX_STATES = 50;

/** The item that the state of a record is, and its index. */
export const STATE_ITEM = 'state';

const stateMapping = mapping({ to: names, by: names, label: caption, notify });

type Given = Omit<State, 'name'>;

const state: Check<Given> = check(stateMapping.schema.nullable(), (value, at): Given => {
  const { to = [], by = null, label = null, notify: mail = null } = value === null ? {} : stateMapping.read(value, at);
  return { to, by, label, notify: mail, position: at.position };
});

const allStates = named('a state', state);

/** The key `states` of a definition (docs/reference/definitions.md#states). */
export const states: Check<States> = check(allStates.schema, (value, at): States => {
  const given = allStates.read(value, at) as Map<string, Given>;
  const all = new Map([...given].map(([name, one]): [string, State] => [name, { name, ...one }]));
  const [initial] = all.keys();
  if (initial === undefined) return at.fail('"states" needs at least one state: the first is that of a new record');
  if (all.size > MAX_STATES) at.fail(`A block has at most ${MAX_STATES} states, not ${all.size}`);
  for (const { name, to } of all.values())
    for (const [index, target] of to.entries()) {
      const node = at.child(name).child('to').child(index);
      if (!all.has(target)) node.fail(`There is no state "${target}"${didYouMean(target, [...all.keys()])}`);
      if (target === name) node.fail(`A record that is "${name}" already cannot become it`);
    }
  return { initial, all };
});

/** Refuses an element that would be the same item. */
export function checkStates(
  given: States | undefined,
  elements: ReadonlyMap<string, ElementDefinition>,
  root: YamlNode,
): States | null {
  if (given && elements.has(STATE_ITEM))
    root
      .child('elements')
      .key(STATE_ITEM)
      .fail('"states" makes the item "state": an element cannot have that name too');
  return given ?? null;
}

/** The states that no record can come into, because no way leads to them from the first. */
export function unreachableStates({ initial, all }: States): State[] {
  const reached = new Set([initial]);
  for (const name of reached) for (const target of all.get(name)?.to ?? []) reached.add(target);
  return [...all.values()].filter(({ name }) => !reached.has(name));
}
