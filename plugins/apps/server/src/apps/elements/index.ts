import type { Json } from '../../../../shared/json';
import type { Region } from '../../common/time/moments';
import { type Message, message } from '../locales';
import type { App, ElementDefinition, States } from '../types';
import { action, basic } from './action';
import { boolean, checkboxes, radio, select } from './choice-types';
import { file, image } from './file';
import { number } from './number';
import { roleOf } from './parts';
import { reference } from './reference';
import { group, repeat } from './repeat';
import { email, hidden, markdown, tel, text, textarea, url } from './text-types';
import { date, datetime, time } from './time-types';
import type { ElementType, JsonSchema } from './types';

/** The table of element types (docs/reference/definitions.md#element-types): a new type is a file, a row and a test. */
export const elementTypes: ReadonlyMap<string, ElementType> = new Map(
  Object.entries({
    BASIC: basic,
    ACTION: action,
    TEXT: text,
    TEXTAREA: textarea,
    EMAIL: email,
    URL: url,
    TEL: tel,
    MARKDOWN: markdown,
    HIDDEN: hidden,
    NUMBER: number,
    DATETIME: datetime,
    DATE: date,
    TIME: time,
    BOOLEAN: boolean,
    SELECT: select,
    RADIO: radio,
    CHECKBOXES: checkboxes,
    FILE: file,
    IMAGE: image,
    GROUP: group,
    REPEAT: repeat,
    REFERENCE: reference,
  }),
);

/**
 * JSON Schema of the values that an element stores (docs/reference/openapi.md#items-of-a-block); null for one that stores
 * none. A computed element stores what its function returns.
 */
export function itemSchema(element: ElementDefinition): JsonSchema | null {
  if (element.mode) return {};
  const schema = element.kind.schema?.(element, itemSchema) ?? null;
  return schema && mayBeMissing(element) ? { anyOf: [schema, { type: 'null' }] } : schema;
}

/** Whether null is stored of an input that no form reads: its condition may be unmet, or it is readonly without a default. */
const mayBeMissing = ({ showIf, readonly, default: given }: ElementDefinition): boolean =>
  showIf !== undefined || (readonly === true && given === undefined);

/**
 * The texts that a browser would send for a JSON value of an input, or why the value is none of its type
 * (docs/reference/definitions.md#values-in-json). Not for files and repeated groups, whose fields are others.
 */
export function textsOfValue(element: ElementDefinition, value: Json): readonly string[] | Message {
  const { sent, isList: list, otherType = message('text') } = element.kind;
  if (sent) return sent(value);
  const isList = list?.(element) ?? false;
  const values = isList && Array.isArray(value) ? value : isList && value === null ? [] : [value];
  return values.every((one) => one === null || typeof one !== 'object')
    ? values.map((one) => (one === null ? '' : String(one)))
    : otherType;
}

/**
 * The elements of an app's blocks whose values are items of records, each name once, in the order of the definitions. What a function
 * makes is stored in its mode alone.
 */
export function declaredItems({ blocks }: Pick<App, 'blocks'>): ElementDefinition[] {
  const items = new Map<string, ElementDefinition>();
  for (const { definition } of blocks.values()) {
    for (const element of definition.elements.values()) {
      const isStored = roleOf(element) === 'input' || element.mode !== undefined;
      if (isStored && !items.has(element.name)) items.set(element.name, element);
    }
    const state = definition.states && stateElement(definition.states);
    if (state && !items.has(state.name)) items.set(state.name, state);
  }
  return [...items.values()];
}

/** The state of records, as an element for readers: a choice of the names of the states. */
export function stateElement({ all }: States): ElementDefinition {
  const options = [...all.values()].map(({ name, label }) => ({ value: name, label: label ?? name }));
  return {
    name: 'state',
    type: 'SELECT',
    kind: select,
    settings: { options },
    indexType: 'keyword',
    position: { file: '' },
  };
}

/** Keys of elements whose texts catalogues may translate: those of inputs first. */
export const textKeys: readonly string[] = [
  ...new Set(
    (['input', 'html', 'action', 'group'] as const)
      .flatMap((role) => [...elementTypes.values()].filter((type) => type.role === role))
      .flatMap(({ settings }) => Object.entries(settings).flatMap(([key, { isText }]) => (isText ? [key] : []))),
  ),
];

/** Whether the values of an element are numbers. */
export const isNumeric = ({ kind }: ElementDefinition): boolean => kind.isNumeric === true;

/** Whether its value is true or false: a box. */
export const isTruth = ({ kind }: ElementDefinition): boolean => kind.cell === 'boolean';

export { ACTION, actionField, builtInActions, buttonHtml } from './action';
export { optionsToRead, toOptions } from './choice-types';
export {
  boundsOf,
  changedEntries,
  entriesSent,
  entriesShown,
  type FormFields,
  MAX_ENTRIES,
  markOf,
  NO_ENTRIES,
  PAGES,
  pageFields,
  pressedButton,
  pressedSearch,
  type SentEntries,
  type ShownEntry,
  searchesIn,
  sentEntries,
  storedEntries,
  textsIn,
  textsOf,
  withoutOrigin,
} from './entries';
export { STORED } from './file';
export {
  type FilesAgain,
  fieldsAgain,
  fileFields,
  fileRules,
  filesAgain,
  filesNamed,
  formFiles,
  isOfFiles,
  keptFileFields,
  lostFiles,
  placeFor,
  placeOfFile,
  publicFiles,
  readFiles,
  withSentFiles,
} from './file-fields';
/** A value of an element as people read it in the language of a page or mail: dates and numbers; any other unchanged. */
export function readableValue(element: ElementDefinition | undefined, value: Json, region: Region): Json {
  const readable = element?.kind.readable;
  return readable && value !== null ? readable(value, region, element) : value;
}

/** The same in a title or subject, where numbers have no separators: many are names, such as an order's, or years. */
export const valueInTitle = (element: ElementDefinition | undefined, value: Json, region: Region): Json =>
  typeof value === 'number' ? value : readableValue(element, value, region);

export { attributes, escapeHtml, fieldset, outerAttributes, plainText, readableText } from './inputs/html';
export { comparedAs, isShown, secretName, showIfSetting, withCondition } from './inputs/settings';
export {
  buttonOf,
  entryElements,
  fieldsOf,
  isSecret,
  listedOptions,
  membersOf,
  type PersonElements,
  personElements,
  personNames,
  roleOf,
  textsCompared,
  textsShown,
  translatedElements,
  withFields,
} from './parts';
export { isOfAnotherKind, readAlone, readInput } from './read';
export { idsIn } from './reference-targets';
export { type ReservedField, reservedNames } from './reserved';
export type {
  ContentEntry,
  ElementData,
  ElementRole,
  ElementType,
  ElementView,
  FileSources,
  JsonSchema,
  ReadForm,
  ShowContext,
  ShownAgain,
  ShownElement,
  VisibleRecords,
  WrongField,
} from './types';
