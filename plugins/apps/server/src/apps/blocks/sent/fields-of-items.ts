import { type Items, isItems, itemOf, type Json } from '../../../../../shared/json';
import {
  type FileSources,
  type FormFields,
  fieldsOf,
  isOfFiles,
  keptFileFields,
  MAX_ENTRIES,
  textsOfValue,
  type WrongField,
} from '../../elements';
import { type Message, message } from '../../locales';
import type { Block, ElementDefinition } from '../../types';
import { shownInputs } from './inputs';

/** A form as it was sent, or items as a form that sends them, for the checks that a form passes. */
export interface SentFields {
  /** What a browser would send: texts and lists of texts, entries of repeated groups as `<group>:<number>:<field>`. */
  fields: FormFields;
  /** Inputs whose JSON values are of another type, with what is wrong. */
  wrong: ReadonlyMap<string, readonly WrongField[]>;
  /** Files of the media library that a form sent as JSON may name. */
  named?: FileSources['named'];
}

/**
 * The inputs of a block as a form would send them that shows them all. An input without an item is what a browser sends for an
 * empty control. New files come by a form only: items name those that are in the media library already.
 * @param sources the files that may be named
 */
export function fieldsOfItems(block: Block, items: Items, sources: FileSources): SentFields {
  const fields = new Map<string, readonly string[]>();
  const wrong = new Map<string, WrongField[]>();
  const refuse = (path: string[], problem: Message) => {
    const name = path[0] ?? '';
    wrong.set(name, [...(wrong.get(name) ?? []), { path, message: problem }]);
  };
  const add = (field: string, path: string[], found: readonly string[] | Message) => {
    if ('key' in found) refuse(path, found);
    else if (found.length > 0) fields.set(field, found);
  };
  const textsOf = (field: string, element: ElementDefinition, value: Json) =>
    isOfFiles(element) ? keptFileFields(field, value, sources) : textsOfValue(element, value);

  for (const element of shownInputs(block, () => true)) {
    const { name } = element;
    const entry = fieldsOf(element);
    const value = itemOf(items, name);
    if (!entry) add(name, [name], textsOf(name, element, value));
    else if (value !== null && !(Array.isArray(value) && value.every(isItems))) refuse([name], message('entries_list'));
    // One more than is allowed is enough to say so.
    else
      for (const [at, one] of ((value ?? []) as Items[]).slice(0, MAX_ENTRIES.allowed + 1).entries()) {
        const path = (field: string) => [name, String(at), field];
        for (const field of entry.values())
          add(
            `${name}:${at}:${field.name}`,
            path(field.name),
            textsOf(`${name}:${field.name}`, field, itemOf(one, field.name)),
          );
        for (const field of Object.keys(one)) if (!entry.has(field)) refuse(path(field), message('unknown_item'));
      }
  }
  const texts = [...fields].map(([name, list]) => [name, list.length === 1 ? list[0] : list]);
  return { fields: Object.fromEntries(texts), wrong };
}

/**
 * A form that was sent as JSON: its values as texts, and in `form` what a browser would have sent, for `context.request.form`.
 * What is no input of the form, such as its buttons, stays.
 * @param options.strict whether unknown fields in entries of repeated groups are wrong; otherwise they are left out, as of any form
 * @param options.named files that it may name
 */
export function formOfJson(
  block: Block,
  body: Items,
  shows: (name: string) => boolean,
  { strict, named }: { strict: boolean; named: FileSources['named'] },
): SentFields & { form: Items } {
  const inputs = new Set(shownInputs(block, shows).map(({ name }) => name));
  const isSent = ([field]: [string, unknown]) => {
    const [name = ''] = field.split(':', 1);
    return inputs.has(name) && Object.hasOwn(body, name);
  };
  const { fields, wrong } = fieldsOfItems(block, body, { files: undefined, items: undefined, named });
  const others = Object.fromEntries(Object.entries(body).filter(([name]) => !inputs.has(name)));
  const sent = Object.fromEntries(Object.entries(fields).filter(isSent));
  const counts = (one: WrongField) => strict || one.message.key !== 'unknown_item';
  const refused = new Map(
    [...wrong].flatMap(([name, problems]): [string, WrongField[]][] => {
      const left = inputs.has(name) ? problems.filter(counts) : [];
      return left.length > 0 ? [[name, left]] : [];
    }),
  );
  return { fields: { ...others, ...sent }, wrong: refused, named, form: { ...others, ...fields } as Items };
}
