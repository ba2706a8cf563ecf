import { isFreeWord } from '../../../../shared/query/parse';
import { isAppsError } from '../../common/errors';
import { didYouMean } from '../../common/text';
import type { CompiledLayout, Layouts } from '../../layouts/types';
import type { Outbound } from '../../outbound/types';
import { LINK } from '../blocks/display/element-contents';
import { DRAFT_EMAIL } from '../blocks/display/form';
import { shownElements } from '../blocks/group';
import { unreachableStates } from '../definitions/records';
import { ACTION, builtInActions, elementTypes, PAGES, roleOf } from '../elements';
import { brokenCatalogues } from '../locales';
import { STATE_BUTTONS } from '../run/places/record-states';
import type { App, Block, ElementDefinition } from '../types';
import { readYaml, type YamlNode } from '../yaml';
import {
  bodyFindings,
  elementFindings,
  logicFindings,
  nameFindings,
  receiptFindings,
  scheduleFindings,
  type UsesOf,
  verifyFindings,
  webhookFindings,
} from './logic';
import { checkMessages } from './messages';
import { type Finding, type Report, refused } from './problem';

/** Keys of an element by which its value is checked when a form is saved. */
const checks = ['required'] as const satisfies readonly (keyof ElementDefinition)[];

/** A control of the layout's own that can send its form. */
const OWN_BUTTON = /<(?:button|form)\b|<input\b[^<>]*\btype\s*=\s*["']?(?:submit|image)\b/i;

/** What a block's form lacks: fields that are checked, and a button. @param layout compiled */
function formFindings(layouts: Pick<Layouts, 'compile'>, app: App, block: Block, layout: CompiledLayout): Finding[] {
  const shows = shownElements({ services: { layouts } }, block);
  return [...lostFields(block, shows), ...lostButton(app, block, layout, shows), ...lostDrafts(block, layout, shows)];
}

type Shows = (name: string) => boolean;

/** A block that keeps drafts, and has no button that saves one. */
function lostDrafts({ definition, layout }: Block, { named }: CompiledLayout, shows: Shows): Finding[] {
  if (!definition.drafts || shows('_draft') || shows(PAGES) || /\bname\s*=\s*["']?_draft\b/.test(layout?.text ?? ''))
    return [];
  const place = named().find(({ names }) => names.includes('_save'));
  const { path: file = layout?.path ?? '', line, column } = place ?? {};
  return [
    {
      severity: 'warning',
      position: { file, ...(line === undefined ? {} : { line, column }) },
      message: 'The block keeps drafts, and its form has no button that saves one',
      cure: 'Write `{_draft}` in the layout, or take "drafts" away.',
    },
  ];
}

const isEntered = (element: ElementDefinition) => roleOf(element) === 'input' && !element.mode && !element.readonly;

/** Fields of a form that saves which must be filled in, and which it does not show. */
function lostFields(block: Block, shows: Shows): Finding[] {
  if (!shows('_save')) return [];
  return [...block.definition.elements.values()]
    .filter((element) => isEntered(element) && !shows(element.name))
    .flatMap((element) => {
      const key = checks.find((one) => element[one] === true);
      if (!key) return element.name === block.definition.receipt?.to ? [lostAddress(block, element)] : [];
      const message = `The form does not show "${element.name}", which is "${key}": it cannot be filled in`;
      const cure = `Write \`{${element.name}}\` in ${block.layout?.path}, or take "${key}" away.`;
      return [{ severity: 'warning', position: element.position, message, cure }];
    });
}

/** The address of a receipt that cannot be entered. */
function lostAddress({ layout }: Block, { name, position }: ElementDefinition): Finding {
  const message = `The form does not show "${name}", to which "receipt" sends a mail: it cannot be filled in`;
  return { severity: 'warning', position, message, cure: `Write \`{${name}}\` in ${layout?.path}.` };
}

/** A layout that shows fields, and nothing that sends them. */
function lostButton(app: App, block: Block, { named }: CompiledLayout, shows: Shows): Finding[] {
  const { id, layout, definition } = block;
  if (!layout || definition.pages || OWN_BUTTON.test(layout.text) || showsRecords(app, block)) return [];
  const elements = [...definition.elements.values()];
  const buttons = [
    ...builtInActions.keys(),
    ...elements.filter((one) => roleOf(one) === 'action').map((one) => one.name),
  ];
  const fields = elements.filter((one) => isEntered(one) && shows(one.name));
  if (fields.length === 0 || buttons.some(shows) || shows(PAGES)) return [];
  const [field] = fields;
  const place = named().find(({ names }) => names.includes(field?.name ?? ''));
  const { path: file = layout.path, line, column } = place ?? {};
  return [
    {
      severity: 'warning',
      position: { file, ...(line === undefined ? {} : { line, column }) },
      message: `The form of the block "${id}" has no button: it cannot be sent`,
      cure: `Write \`{_save}\` in the layout, or the name of an ${ACTION}.`,
    },
  ];
}

/** The names that the definition of a block may have. */
const definitionPaths = (id: string): readonly string[] => [`blocks/${id}.yaml`, `blocks/${id}.yml`];

/** Whether a block is for records to read: its layout reads the record or the mode, or another file of the app names the block. */
function showsRecords({ folder }: App, { id, layout }: Block): boolean {
  if (/\bcontext\.(?:record|mode)\b/.test(layout?.text ?? '')) return true;
  const named = new RegExp(`["'\`:/ ]${id.replaceAll('.', '\\.')}(?![\\w.-])`);
  return [...folder.files.values()].some(
    ({ path, text }) => /\.(?:js|ts|py|ya?ml)$/.test(path) && !definitionPaths(id).includes(path) && named.test(text),
  );
}

/** The warning of an app without `acl` whose forms only managers, and roles with permissions of Strapi, may send. */
function aclFindings(layouts: Pick<Layouts, 'compile'>, app: App): Finding[] {
  if (app.error || app.settings.acl) return [];
  for (const block of app.blocks.values()) {
    const { viewPermission } = block.definition;
    if (block.error || !block.layout || viewPermission?.length === 0) continue;
    const layout = attemptCompile(layouts, block);
    if (!layout || !shownElements({ services: { layouts } }, block)('_save')) continue;
    const place = layout.named().find(({ names }) => names.includes('_save') || names.includes(PAGES));
    const { path: file = block.layout.path, line, column } = place ?? {};
    const position = { file, ...(line === undefined ? {} : { line, column }) };
    const message = `Visitors cannot send the form of the block "${block.id}": the app has no "acl", so that only managers may save`;
    const cure = 'Write in settings.yaml who may send it, such as `acl: { rights: { submitter: ["*"] } }`.';
    return [{ severity: 'warning', position, message, cure }];
  }
  return [];
}

/** Null for a broken layout, which is reported as such. */
function attemptCompile(layouts: Pick<Layouts, 'compile'>, { layout }: Block): CompiledLayout | null {
  try {
    return layout && layouts.compile(layout);
  } catch {
    return null;
  }
}

/** Keys of an element whose values are compared with what people choose or see. */
const COMPARED = ['options', 'default', 'show_if'];

/** Numbers that are reported for one block. */
const MAX_FINDINGS = 20;

/**
 * Numbers of a definition that are written in another way than they are read, such as `01067` and `1.10`: YAML reads 1067 and
 * 1.1, and that is what is shown and stored.
 */
export function spellingFindings({ folder }: Pick<App, 'folder'>, block: Pick<Block, 'id'>): Finding[] {
  const file = definitionOf({ folder }, block);
  if (!file) return [];
  const lines = file.text.split(/\r\n|\r|\n/);
  return comparedNumbers(file)
    .flatMap((at): Finding[] => {
      const { line = 1, column = 1 } = at.position;
      const written = /^[^\s,\]}#&*!]*/.exec(lines[line - 1]?.slice(column - 1) ?? '')?.[0] ?? '';
      if (written === '' || written === String(at.value)) return [];
      const message = `${at.name}: "${written}" is the number ${at.value}, which is shown and stored`;
      return [{ severity: 'warning', position: at.position, message, cure: `Put a text in quotes: "${written}".` }];
    })
    .slice(0, MAX_FINDINGS);
}

/** Elements whose pictures may have more pixels than the host takes. @param imagePixels `limits.imagePixels` of the host */
export function pixelFindings(app: Pick<App, 'folder'>, block: Pick<Block, 'id'>, imagePixels: number): Finding[] {
  const file = definitionOf(app, block);
  return elementsOf(file)
    .flatMap((element) => childrenOf(element, 'max_pixels'))
    .filter(({ value }) => typeof value === 'number' && value > imagePixels)
    .map(({ name, position, value }): Finding => {
      const message = `${name}: ${value} is more than "limits.imagePixels" of this host, which takes pictures of ${imagePixels} pixels`;
      return { severity: 'warning', position, message, cure: `Write ${imagePixels} or less, or raise the limit.` };
    })
    .slice(0, MAX_FINDINGS);
}

type YamlFile = Parameters<typeof readYaml>[0];

const definitionOf = ({ folder }: Pick<App, 'folder'>, { id }: Pick<Block, 'id'>): YamlFile | undefined =>
  definitionPaths(id).flatMap((path) => folder.files.get(path) ?? [])[0];

/** The numbers in the compared keys of all elements. */
function comparedNumbers(file: YamlFile): YamlNode[] {
  return elementsOf(file).flatMap((element) => {
    const { type } = (element.value ?? {}) as { type?: unknown };
    const isNumber = typeof type === 'string' && elementTypes.get(type)?.isNumeric === true;
    const keys = COMPARED.filter((key) => !(key === 'default' && isNumber));
    return keys.flatMap((key) => childrenOf(element, key)).flatMap(numbersIn);
  });
}

/** All elements of a definition; none of one that is absent, or cannot be read, which is reported as such. */
function elementsOf(file: YamlFile | undefined): YamlNode[] {
  try {
    return file ? elementsIn(readYaml(file)) : [];
  } catch (error) {
    if (isAppsError(error)) return [];
    throw error;
  }
}

/** The values inside a mapping or list. @param only the one of this key, if there is one */
function childrenOf(at: YamlNode, only?: string): YamlNode[] {
  if (typeof at.value !== 'object' || at.value === null) return [];
  const keys = Object.keys(at.value).filter((key) => only === undefined || key === only);
  return keys.map((key) => at.child(Array.isArray(at.value) ? Number(key) : key));
}

/** The elements below a node, those of groups and entries too. */
function elementsIn(at: YamlNode): YamlNode[] {
  const own = childrenOf(at, 'elements').flatMap((elements) => childrenOf(elements));
  return own.flatMap((element) => [element, ...elementsIn(element)]);
}

const numbersIn = (at: YamlNode): YamlNode[] =>
  typeof at.value === 'number' ? [at] : childrenOf(at).flatMap(numbersIn);

/** What the check of an app needs of the server, with or without a running Strapi. */
export interface LintServices {
  layouts: Pick<Layouts, 'compile'>;
  /**
   * Names of the functions of a block's logic, after it was loaded in the sandbox. Null where there is no sandbox. Rejects
   * with the AppsError of a file that is broken or has no end.
   */
  functionsOf(app: App, block: Block): Promise<ReadonlySet<string> | null>;
  /** The members of `context` and the searches in a block's logic. */
  usesOf: UsesOf;
  /** What the server would log about an app: keys that it ignores. */
  warningsOf(app: App): readonly string[];
  /** `limits.imagePixels` of the host. */
  imagePixels: number;
  /** What the configuration of the host lets apps call. */
  outbound: Pick<Outbound, 'check' | 'secret'>;
}

/** Logic files that are loaded at once. */
const AT_ONCE = 6;

/** Checks an app: its settings, and each of its blocks. */
export async function checkApp(services: LintServices, app: App, report: Report): Promise<void> {
  if (app.error) report(refused(app.error, 'settings.yaml'));
  for (const error of await brokenCatalogues(app.folder.files)) report(refused(error, 'locales'));
  checkMessages(app, report);
  for (const warning of new Set(services.warningsOf(app))) report(ignoredKey(warning));
  for (const finding of [
    ...aclFindings(services.layouts, app),
    ...receiptFindings(app),
    ...webhookFindings(services.outbound, app),
  ])
    report(finding);
  const waiting = [...app.blocks.values()];
  const checkNext = async (): Promise<void> => {
    for (let block = waiting.shift(); block; block = waiting.shift()) await checkBlock(services, app, block, report);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, checkNext));
}

/** A key that the server ignores in a theme with `rapido: true`: `blocks/rate.yaml:3:5: …`. */
function ignoredKey(warning: string): Finding {
  const [, file = 'settings.yaml', line, column, message = warning] =
    /^([^:\s]+):(\d+):(\d+): ([\s\S]*)$/.exec(warning) ?? [];
  const position = line === undefined ? { file } : { file, line: Number(line), column: Number(column) };
  return { severity: 'warning', position, message };
}

async function checkBlock(services: LintServices, app: App, block: Block, report: Report): Promise<void> {
  if (block.error) report(refused(block.error, `blocks/${block.id}`));
  const layout = compiled(services, block, report);
  const functions = await functionsOf(services, app, block, report);
  for (const finding of [...spellingFindings(app, block), ...pixelFindings(app, block, services.imagePixels)])
    report(finding);
  // What follows from a broken definition is no mistake of its own.
  if (block.error) return;
  if (layout)
    for (const finding of [
      ...unknownElements(app, block, layout),
      ...lostPages(block, layout),
      ...formFindings(services.layouts, app, block, layout),
    ])
      report(finding);
  for (const finding of [...lostStates(block), ...lostIndexes(block)]) report(finding);
  for (const finding of verifyFindings(services.outbound, block, layout)) report(finding);
  for (const finding of await logicFindings(services.usesOf, app, block)) report(finding);
  if (functions)
    for (const finding of [
      ...elementFindings(block, layout, functions),
      ...scheduleFindings(block, functions),
      ...nameFindings(block, functions),
      ...bodyFindings(app, block, functions),
    ])
      report(finding);
}

/** The layout; null where there is none, and where it is broken, which is reported. */
function compiled({ layouts }: LintServices, { layout }: Block, report: Report): CompiledLayout | null {
  if (!layout) return null;
  try {
    return layouts.compile(layout);
  } catch (error) {
    if (!isAppsError(error)) throw error;
    report(refused(error, layout.path));
    return null;
  }
}

async function functionsOf(services: LintServices, app: App, block: Block, report: Report) {
  try {
    return await services.functionsOf(app, block);
  } catch (error) {
    if (!isAppsError(error)) throw error;
    report(refused(error, block.logic?.path ?? `blocks/${block.id}`));
    return null;
  }
}

/** Pages of a form without a place in the layout. */
function lostPages({ id, definition, layout }: Block, { shows }: CompiledLayout): Finding[] {
  if (!definition.pages || shows(PAGES)) return [];
  const message = 'The form has pages, and its layout no place for them: all fields are on one page';
  return [
    { severity: 'error', position: { file: layout?.path ?? id }, message, cure: 'Write `{_pages}` in the layout.' },
  ];
}

/** States of which no record can be. */
function lostStates({ definition: { states } }: Block): Finding[] {
  return (states ? unreachableStates(states) : []).map(({ name, position }) => ({
    severity: 'warning',
    position,
    message: `No record can become "${name}": no way leads there from "${states?.initial}", the first state`,
    cure: `Name "${name}" in "to" of another state, or take it away.`,
  }));
}

/** Indexes that no query can name: they can be sorted by, and nothing else. */
function lostIndexes({ definition }: Block): Finding[] {
  return [...definition.elements.values()]
    .filter(({ name, indexType }) => indexType && !isFreeWord(name))
    .map(({ name, position }) => ({
      severity: 'warning',
      position,
      message: `No query can name the index "${name}", which is a word or a value of the query language`,
      cure: 'Give the element another name.',
    }));
}

/** Whether a block is the body of a mail about a record with an own link, for which `{link}` stands there. */
const showsLinks = ({ blocks }: App, { id }: Block): boolean =>
  [...blocks.values()].some(({ definition: { selfService, notify, receipt, states } }) => {
    const mails = [notify, receipt, ...[...(states?.all.values() ?? [])].map((state) => state.notify)];
    return selfService !== null && mails.some((mail) => mail?.block === id);
  });

/** Elements that the layout names and the definition does not declare. */
function unknownElements(app: App, block: Block, { named }: CompiledLayout): Finding[] {
  const { id, definition } = block;
  const known = [...definition.elements.keys()];
  return named()
    .filter(
      ({ names }) =>
        !names.some(
          (name) =>
            definition.elements.has(name) ||
            (name === '_draft' || name === DRAFT_EMAIL ? definition.drafts : builtInActions.has(name)) ||
            (name === PAGES && definition.pages !== null) ||
            (name === LINK && showsLinks(app, block)) ||
            (name === STATE_BUTTONS && definition.states !== null),
        ),
    )
    .map(({ names, path, line, column }) => {
      const name = names.at(-1) ?? '';
      const at = { severity: 'error', position: { file: path, line, column } } as const;
      if (name === '_draft' || name === DRAFT_EMAIL)
        return {
          ...at,
          message: `"${name}" is of drafts, which the block does not keep`,
          cure: 'Write `drafts: true` in its definition.',
        };
      return {
        ...at,
        message: `There is no element "${name}"${didYouMean(name, [...known, ...builtInActions.keys()])}`,
        cure: `Declare it under "elements" in blocks/${id}.yaml.`,
      };
    });
}
