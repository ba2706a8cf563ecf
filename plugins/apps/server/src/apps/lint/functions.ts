import { didYouMean } from '../../common/did-you-mean';
import type { CompiledLayout } from '../../layouts/types';
import { builtInActions, elementTypes, entryElements, roleOf } from '../elements';
import type { Block } from '../types';
import type { Finding, Severity } from './problem';

type Element = Block['definition']['elements'] extends ReadonlyMap<string, infer E> ? E : never;

/** Functions that are named after an event of the block (docs/reference/logic.md#functions). */
const events = ['on_display', 'on_save', 'on_delete', 'record_id'];

/** A function that an element needs. */
interface Need {
  name: string;
  severity: Severity;
  /** What happens without it. */
  without: string;
}

/** Functions that the elements of a block need and its logic lacks. @param layout null where there is none */
export function elementFindings(
  block: Block,
  layout: CompiledLayout | null,
  functions: ReadonlySet<string>,
): Finding[] {
  return withEntries(block).flatMap((element) => {
    const need = needOf(element, layout);
    if (!need || functions.has(need.name)) return [];
    const lack = block.logic ? `${block.logic.path} has no function "${need.name}"` : 'the block has no logic file';
    const message = `The ${element.type} "${element.name}" ${need.without}: ${lack}${didYouMean(need.name, [...functions])}`;
    return [{ severity: need.severity, position: element.position, message, cure: cureOf(block, need.name) }];
  });
}

/** The elements of a block, and the fields of its repeated groups. */
const withEntries = ({ definition }: Block): Element[] =>
  [...definition.elements.values()].flatMap((element) => [element, ...entryElements(element)]);

function needOf(element: Element, layout: CompiledLayout | null): Need | null {
  const { name, type, options } = element;
  if (builtInActions.has(name)) return null;
  const role = roleOf(element);
  if (role === 'action') return { name, severity: 'error', without: 'does nothing' };
  if (role === 'html') return basicNeed(element, layout);
  const takesOptions = Object.hasOwn(elementTypes.get(type)?.settings ?? {}, 'options');
  if (!takesOptions || options) return null;
  return { name: `${name}_options`, severity: 'error', without: 'has no options' };
}

/** A BASIC that is indexed may be an item of records, which logic stores: it is declared for the index alone. */
function basicNeed({ name, mode, indexType }: Element, layout: CompiledLayout | null): Need | null {
  if (mode) return { name, severity: 'error', without: 'is never computed' };
  const isShown = layout?.shows(name) ?? false;
  if (indexType === undefined) return { name, severity: 'error', without: 'does nothing' };
  return isShown ? { name, severity: 'warning', without: 'shows nothing but a stored value' } : null;
}

const forms: Record<string, (name: string) => string> = {
  javascript: (name) => `export function ${name}(context) { … }`,
  typescript: (name) => `export function ${name}(context: Context) { … }`,
  python: (name) => `def ${name}(context): …`,
};

export function cureOf({ id, logic }: Block, name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) return 'Choose another name: no function can have this one.';
  const language = logic?.language ?? 'javascript';
  return `Write \`${forms[language]?.(name)}\` in ${logic?.path ?? `blocks/${id}.js`}.`;
}

/** Names of the functions that the server calls, if the logic has them. */
export function calledNames(block: Block): string[] {
  const elements = withEntries(block).map(({ name }) => name);
  const scheduled = block.definition.schedules.map(({ run }) => run);
  return [...events, 'validate', ...scheduled, ...elements, ...elements.map((name) => `${name}_options`)];
}

/** Functions whose names are probably misspelt: nothing calls them, and something close is missing. */
export function nameFindings(block: Block, functions: ReadonlySet<string>): Finding[] {
  const { logic } = block;
  const called = new Set(calledNames(block));
  const missing = events.filter((name) => !functions.has(name));
  return [...functions]
    .filter((name) => !called.has(name))
    .flatMap((name) => {
      const meant = didYouMean(name, missing);
      if (meant === '' || !logic) return [];
      const message = `Nothing calls the function "${name}"${meant}`;
      return [{ severity: 'warning' as const, position: { file: logic.path }, message }];
    });
}
