import { attempt } from '../../common/errors';
import { didYouMean } from '../../common/text';
import { cronWords } from '../../common/time/cron';
import { searchProblem } from '../../indexes';
import type { CompiledLayout } from '../../layouts/types';
import type { LogicUses } from '../../logic/types';
import { secretOf } from '../../outbound';
import type { Outbound } from '../../outbound/types';
import { builtInActions, entryElements, listedOptions, roleOf } from '../elements';
import type { App, Block } from '../types';
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
  const { name, kind } = element;
  if (builtInActions.has(name)) return null;
  const role = roleOf(element);
  if (role === 'action') return { name, severity: 'error', without: 'does nothing' };
  if (element.mode) return { name, severity: 'error', without: 'is never computed' };
  if (role === 'html') return basicNeed(element, layout);
  if (!kind.options || listedOptions(element)) return null;
  return { name: `${name}_options`, severity: 'error', without: 'has no options' };
}

/** A BASIC that is indexed may be an item of records, which logic stores: it is declared for the index alone. */
function basicNeed({ name, indexType }: Element, layout: CompiledLayout | null): Need | null {
  const isShown = layout?.shows(name) ?? false;
  if (indexType === undefined) return { name, severity: 'error', without: 'does nothing' };
  return isShown ? { name, severity: 'warning', without: 'shows nothing but a stored value' } : null;
}

const forms: Record<string, (name: string) => string> = {
  javascript: (name) => `export function ${name}(context) { … }`,
  typescript: (name) => `export function ${name}(context: Context) { … }`,
  python: (name) => `def ${name}(context): …`,
};

function cureOf({ id, logic }: Block, name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) return 'Choose another name: no function can have this one.';
  const language = logic?.language ?? 'javascript';
  return `Write \`${forms[language]?.(name)}\` in ${logic?.path ?? `blocks/${id}.js`}.`;
}

/** Names of the functions that the server calls, if the logic has them. */
function calledNames(block: Block): string[] {
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

/** What finds the members and searches of a block's logic. @param functions names of those that the server calls */
export type UsesOf = (app: App, block: Block, functions: readonly string[]) => Promise<LogicUses>;

/**
 * Members of `context` that do not exist in a block's logic, and its searches with literal texts that must fail: a query that
 * cannot be read, or an index that the app does not declare.
 */
export async function logicFindings(usesOf: UsesOf, app: App, block: Block): Promise<Finding[]> {
  if (!block.logic) return [];
  const file = block.logic.path;
  const { mistakes, searches } = await usesOf(app, block, calledNames(block));
  const members = mistakes.map(
    ({ message, line, column }): Finding => ({
      severity: 'error',
      position: { file, line, column },
      message,
      cure: 'The members of `context` are in docs/reference/logic.md.',
    }),
  );
  // A broken definition declares indexes too.
  if ([...app.blocks.values()].some(({ error }) => error)) return members;
  const failing = searches.flatMap(({ query, sortIndex, mayHaveNames, line, column }): Finding[] => {
    const options = { query: query ?? '', ...(sortIndex === null ? {} : { sortIndex }) };
    const reason = searchProblem(app.indexes, options, mayHaveNames);
    const position = { file, line, column };
    const cure = 'Give the element an `index_type` in its definition, or correct the query.';
    return reason === null ? [] : [{ severity: 'error', position, message: `This search fails: ${reason}`, cure }];
  });
  return [...members, ...failing];
}

/** Schedules whose function the block does not have. */
export function scheduleFindings(block: Block, functions: ReadonlySet<string>): Finding[] {
  const { logic, definition } = block;
  return definition.schedules.flatMap(({ run, position }) => {
    if (functions.has(run)) return [];
    const lack = logic ? `${logic.path} has no function "${run}"` : 'the block has no logic file';
    const message = `The schedule does nothing: ${lack}${didYouMean(run, [...functions])}`;
    return [{ severity: 'error' as const, position, message, cure: cureOf(block, run) }];
  });
}

/** What a schedule means, for its author. */
export interface ScheduleMeaning {
  file: string;
  line: number | null;
  column: number | null;
  block: string;
  run: string;
  cron: string;
  /** `At 06:00, Monday through Friday, Europe/Paris`. */
  words: string;
}

/** The schedules of an app's blocks in words. @param prefix put before their files */
export function scheduleMeanings(app: App, prefix: string): ScheduleMeaning[] {
  return [...app.blocks.values()].flatMap(({ id, definition }) =>
    definition.schedules.map(({ run, cron, timeZone, position: { file, line = null, column = null } }) => {
      const words = cronWords(cron, timeZone ?? "the site's time zone");
      return { file: prefix + file, line, column, block: id, run, cron, words };
    }),
  );
}

type Calls = Pick<Outbound, 'check' | 'secret'>;

/** What the configuration lacks for a secret; the machine of a developer may have other values than the server. */
function secretFinding(outbound: Calls, name: string, what: string, position: Finding['position']): Finding[] {
  if (secretOf(outbound, name) !== null) return [];
  const message = `${what}: this host has no "fetch.secrets.${name}.value"`;
  return [
    { severity: 'warning', position, message, cure: 'Set it in config/plugins, most often from the environment.' },
  ];
}

/** Webhooks of settings.yaml that this host would not send. */
export function webhookFindings(outbound: Calls, app: App): Finding[] {
  return [...app.settings.webhooks].flatMap(([name, { url, secret, position }]) => {
    const what = `The webhook "${name}" is not sent`;
    const call = { url, method: 'POST', headers: {}, body: '', timeout: null, isExact: true };
    const { error } = attempt(() => outbound.check(app.id, call));
    const refused: Finding[] = error ? [{ severity: 'warning', position, message: `${what}: ${error.message}` }] : [];
    return [...refused, ...(secret === null ? [] : secretFinding(outbound, secret, what, position))];
  });
}

/** Functions that make bodies of webhooks, and that the logic of a block lacks. */
export function bodyFindings({ settings }: App, { id, logic }: Block, functions: ReadonlySet<string>): Finding[] {
  return [...settings.webhooks].flatMap(([name, { body, position }]): Finding[] => {
    if (body?.block !== id || functions.has(body.name)) return [];
    const lack = logic ? `${logic.path} has no function "${body.name}"` : `the block "${id}" has no logic file`;
    const message = `The webhook "${name}" is not sent: ${lack}${didYouMean(body.name, [...functions])}`;
    return [{ severity: 'error', position, message }];
  });
}

/** Elements that webhooks call: those that a layout shows, and those whose signatures this host cannot check. */
export function verifyFindings(outbound: Calls, block: Block, layout: CompiledLayout | null): Finding[] {
  return [...block.definition.elements.values()].flatMap(({ name, verify, position }): Finding[] => {
    if (!verify) return [];
    const what = `Webhooks for the element "${name}" are refused`;
    const lack = secretFinding(outbound, verify.secret, what, position);
    if (!layout?.shows(name)) return lack;
    const message = `The layout shows "${name}", which webhooks call: a page shows nothing of it`;
    return [
      ...lack,
      { severity: 'error', position, message, cure: `Take \`{${name}}\` out of ${block.layout?.path}.` },
    ];
  });
}

/** Lists of an `acl` whose members make records. */
const MAKERS = ['submitter', 'author', 'editor'] as const;

/** Receipts without a confirmation in an app in which everyone may save: their text is entered, and so is their address. */
export function receiptFindings({ settings, blocks }: App): Finding[] {
  if (!MAKERS.some((list) => settings.acl?.rights[list].includes('*'))) return [];
  return [...blocks.values()].flatMap(({ definition: { receipt } }): Finding[] => {
    if (!receipt || receipt.confirm) return [];
    const message = 'receipt: everyone may save, so that anyone can have what they enter sent to any address';
    return [{ severity: 'warning', position: receipt.position, message, cure: 'Write `confirm: true`.' }];
  });
}
