import { didYouMean } from '../../common/did-you-mean';
import { isAppsError } from '../../common/errors';
import type { CompiledLayout, Layouts } from '../../layouts/types';
import type { Outbound } from '../../outbound/types';
import { builtInActions, PAGES } from '../elements';
import { brokenCatalogues } from '../locales';
import type { App, Block } from '../types';
import { aclFindings, formFindings } from './forms';
import { elementFindings, nameFindings } from './functions';
import { logicFindings, type UsesOf } from './logic';
import { checkMessages } from './messages';
import { pixelFindings, spellingFindings } from './numbers';
import { type Finding, type Report, refused } from './problem';
import { scheduleFindings } from './schedules';
import { bodyFindings, verifyFindings, webhookFindings } from './webhooks';

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
  for (const finding of [...aclFindings(services.layouts, app), ...webhookFindings(services.outbound, app)])
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
      ...unknownElements(block, layout),
      ...lostPages(block, layout),
      ...formFindings(services.layouts, app, block, layout),
    ])
      report(finding);
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

/** Elements that the layout names and the definition does not declare. */
function unknownElements({ id, definition }: Block, { named }: CompiledLayout): Finding[] {
  const known = [...definition.elements.keys()];
  return named()
    .filter(
      ({ names }) =>
        !names.some(
          (name) =>
            definition.elements.has(name) || builtInActions.has(name) || (name === PAGES && definition.pages !== null),
        ),
    )
    .map(({ names, path, line, column }) => {
      const name = names.at(-1) ?? '';
      return {
        severity: 'error',
        position: { file: path, line, column },
        message: `There is no element "${name}"${didYouMean(name, [...known, ...builtInActions.keys()])}`,
        cure: `Declare it under "elements" in blocks/${id}.yaml.`,
      };
    });
}
