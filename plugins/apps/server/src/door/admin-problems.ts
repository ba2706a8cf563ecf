import type { BlockFailure, Problem } from '../../../shared/admin-api';
import { type App, type Block, failuresOf, programOf, readRules, readThemeInfo } from '../apps';
import { didYouMean } from '../did-you-mean';
import { AppsError, isAppsError } from '../errors';
import type { Site, ThemeFile } from '../sites/types';
import type { DoorServices } from './exchange';
import { type Views, viewProblem } from './views';

/** What the panel shows of an error beside its place, which the message of a definition error begins with. */
export function problemOf(error: AppsError | null): Problem | null {
  if (!error) return null;
  const { file = '', line = null, column = null } = error.position ?? {};
  const problem = { message: error.message, file, line, column };
  return { ...problem, message: withoutPlace(problem) };
}

/** A message without the position that it begins or ends with. */
function withoutPlace({ message, file, line, column }: Problem): string {
  if (file === '') return message;
  const place = [file, line, column].filter((part) => part !== null).join(':');
  return message.replace(`${place}: `, '').replace(` (${place})`, '');
}

/** Milliseconds for finding out what is wrong with the blocks of an app. */
const checkTime = 5000;

/** What is wrong with each block of an app: its files, its logic at work, or its view. @param views the site's */
export async function blockProblems(
  services: DoorServices,
  site: Site,
  views: Views,
  app: App,
): Promise<Map<Block, Problem | null>> {
  const deadline = performance.now() + checkTime;
  const problems = new Map<Block, Problem | null>();
  for (const block of app.blocks.values()) {
    const broken = block.error ?? layoutError(services, block) ?? (await logicError(services, app, block, deadline));
    const problem =
      problemOf(broken) ?? pauseOf(services, site, app, block) ?? problemOf(viewProblem(views, app, block));
    problems.set(block, problem ?? blockFailures(block)[0] ?? null);
  }
  return problems;
}

/** The recent failures of a block, whose messages do not repeat the position. */
export function blockFailures(block: Block): BlockFailure[] {
  return failuresOf(block).map((failure) => ({ ...failure, message: withoutPlace(failure) }));
}

/** The problems of the theme's own files; those of blocks are listed with their apps. */
export async function siteProblems(services: DoorServices, site: Site): Promise<Problem[]> {
  const theme = await services.sites.theme(site);
  if (!theme) return [{ message: `There is no theme "${site.theme}"`, file: '', line: null, column: null }];
  const errors: AppsError[] = [];
  for (const file of theme.files.values()) {
    if (file.problem) errors.push(new AppsError('DefinitionError', file.problem, { position: { file: file.path } }));
    else if (file.path === 'rules.yaml') errors.push(...(await ruleErrors(services, site, file)));
    else
      errors.push(
        ...thrownBy(() => (file.path === 'theme.yaml' ? readThemeInfo(file) : services.layouts.compile(file))),
      );
  }
  return errors.flatMap((error) => problemOf(error) ?? []);
}

/** The errors in rules.yaml, and includes of missing blocks. */
async function ruleErrors({ sites, loadApp }: DoorServices, site: Site, file: ThemeFile): Promise<AppsError[]> {
  const { rules, errors } = readRules(file);
  const missing: AppsError[] = [];
  for (const { include, position } of rules) {
    const app = await loadApp(site, include.app);
    if (app?.blocks.has(include.block)) continue;
    const message = app
      ? `There is no block "${include.block}" in the app "${app.id}"${didYouMean(include.block, [...app.blocks.keys()])}`
      : `There is no app "${include.app}" in this site${didYouMean(include.app, await sites.apps(site))}`;
    missing.push(new AppsError('DefinitionError', message, { position }));
  }
  return [...errors, ...missing];
}

async function logicError({ logic }: DoorServices, app: App, block: Block, deadline: number) {
  return block.logic && logic.problem(programOf(app, block.logic), deadline);
}

function layoutError({ layouts }: DoorServices, { layout }: Block): AppsError | null {
  return (layout && thrownBy(() => layouts.compile(layout))[0]) ?? null;
}

function thrownBy(work: () => unknown): AppsError[] {
  try {
    work();
    return [];
  } catch (error) {
    if (isAppsError(error)) return [error];
    throw error;
  }
}

/** What says that a block's logic is not run for a while. */
function pauseOf({ logic }: DoorServices, site: Site, app: App, block: Block): Problem | null {
  const scope = `${site.id}/${app.folder.themeId}/${app.id}`;
  const paused = logic.paused().find((one) => one.scope === scope && one.path === block.logic?.path);
  if (!paused) return null;
  const message = `Paused for ${paused.seconds} s: its logic went over its limits again and again`;
  return { message, file: paused.path, line: null, column: null };
}
