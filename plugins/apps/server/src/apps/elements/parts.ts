import type { Json } from '../../../../shared/json';
import { memoized } from '../../common/collections';
import type { Region } from '../../common/time/moments';
import type { App, Definition, ElementDefinition, ElementOption } from '../types';
import type { ButtonSettings } from './action';
import { plainText } from './inputs/html';
import type { Autocomplete } from './inputs/settings';
import type { ElementRole } from './types';

/** The role of an element; undefined for a missing one. */
export const roleOf = (element: ElementDefinition | undefined): ElementRole | undefined => element?.kind.role;

/** The names of the elements under the heading of a group; none for another element. */
export const membersOf = (element: ElementDefinition): readonly string[] => element.kind.members?.(element) ?? [];

/** The fields of each entry of a repeated group; undefined for another element. */
export const fieldsOf = (element: ElementDefinition): ReadonlyMap<string, ElementDefinition> | undefined =>
  element.kind.fields?.(element);

/** The fields of an entry as elements of their own, named as their functions are: `<repeat>_<field>`. None for another element. */
export const entryElements = (element: ElementDefinition): ElementDefinition[] =>
  [...(fieldsOf(element)?.values() ?? [])].map((field) => ({ ...field, name: `${element.name}_${field.name}` }));

/** A repeated group with other fields. */
export const withFields = (
  element: ElementDefinition,
  fields: ReadonlyMap<string, ElementDefinition>,
): ElementDefinition => ({ ...element, settings: { ...element.settings, fields } });

/** The options that the definition of an element lists; undefined where a function gives them, and for types without options. */
export const listedOptions = (element: ElementDefinition): readonly ElementOption[] | undefined =>
  element.kind.options?.(element);

/** What an action asks and checks before its function runs; nothing for another element. */
export const buttonOf = (element: ElementDefinition | undefined): ButtonSettings =>
  roleOf(element) === 'action' ? (element?.settings as ButtonSettings) : {};

/** Words of HTML's `autocomplete` for what is stored nowhere but where its owner has sent it. */
const SECRETS = new Set(['current-password', 'new-password', 'one-time-code', 'cc-number', 'cc-csc']);

/** Whether what is entered in an element is a secret, such as a password. */
export const isSecret = ({ settings }: ElementDefinition): boolean =>
  ((settings as Autocomplete).autocomplete ?? '').split(/\s+/).some((word) => SECRETS.has(word.toLowerCase()));

/** The texts of a stored value as a form that shows it sends them, compared with `textsCompared`. */
export function textsShown(element: ElementDefinition, value: Json, region: Region): readonly string[] {
  return textsCompared(element, element.kind.shows?.(value, element, region) ?? [plainText(value)]);
}

/** The texts that a form has sent for an element, without what browsers change by themselves. */
export function textsCompared(element: ElementDefinition, submitted: readonly string[]): readonly string[] {
  return element.kind.compares?.(submitted, element) ?? [...submitted];
}

/** The message of a key, without its values; null if there is none. */
type Find = (key: string) => string | null;

/** The element with its texts, those of its options and those of its fields as `find` has them. */
function translatedElement(element: ElementDefinition, find: Find): ElementDefinition {
  const found = ([key, name]: readonly [string, string]): [string, string][] => {
    const text = find(key);
    return text === null ? [] : [[name, text]];
  };
  const ofAll = [['label', 'label'] as const, ['help', 'help'] as const].flatMap(found);
  const own = Object.entries(element.kind.settings).flatMap(([key, one]) =>
    'own' in one && one.isText ? found([key, one.own]) : [],
  );
  const options = listedOptions(element)?.map((one) => ({ ...one, label: find(`options.${one.value}`) ?? one.label }));
  const settings = { ...element.settings, ...Object.fromEntries(own), ...(options && { options }) };
  const translated = { ...element, ...Object.fromEntries(ofAll), settings };
  const fields = fieldsOf(element);
  return fields ? withFields(translated, translatedElements(fields, find)) : translated;
}

/** The elements with the texts that their catalogues have for them, which are below `elements.<name>`. */
export const translatedElements = (
  elements: ReadonlyMap<string, ElementDefinition>,
  find: Find,
): Map<string, ElementDefinition> =>
  new Map([...elements].map(([name, one]) => [name, translatedElement(one, (key) => find(`elements.${name}.${key}`))]));

/** Names of the elements of a definition whose values are addresses of persons; those of repeated groups by the group. */
export interface PersonElements {
  own: readonly string[];
  groups: ReadonlyMap<string, readonly string[]>;
}

/** The elements with `person` of a block. */
export const personElements = memoized(({ elements }: Pick<Definition, 'elements'>): PersonElements => {
  const all = [...elements.values()];
  const groups = all.flatMap((element): [string, string[]][] => {
    const fields = [...(fieldsOf(element)?.values() ?? [])].filter(({ person }) => person).map((field) => field.name);
    return fields.length > 0 ? [[element.name, fields]] : [];
  });
  return { own: all.filter(({ person }) => person).map(({ name }) => name), groups: new Map(groups) };
});

/** Names of all elements with `person` of an app, those in entries too. */
export const personNames = memoized(({ blocks }: Pick<App, 'blocks'>): ReadonlySet<string> => {
  const found = [...blocks.values()].map(({ definition }) => personElements(definition));
  return new Set(found.flatMap(({ own, groups }) => [...own, ...[...groups.values()].flat()]));
});
