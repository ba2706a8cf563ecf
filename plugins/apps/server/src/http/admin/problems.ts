import type { BlockFailure, Problem } from '../../../../shared/admin-api';
import { excerptOf } from '../../../../shared/positions';
import { type App, type Block, failuresOf, programOf, sourceOf, themeErrors } from '../../apps';
import { type AppsError, attempt } from '../../common/errors';
import type { PausedLogic } from '../../logic/types';
import type { Site } from '../../sites/types';
import { type Views, viewProblem } from '../app/page-handlers';
import type { HttpServices } from '../request/exchange';

/** The text of a file that the position of an error may name. */
type Source = (file: string) => string | undefined;

/** What the panel shows of an error. @param source gives the text of the position's file */
export function problemOf(error: AppsError | null, source: Source): Problem | null {
  if (!error) return null;
  const { message, position: { file = '', line = null, column = null } = {} } = error;
  return quoted({ message, file, line, column }, source);
}

function quoted<T extends Omit<Problem, 'excerpt'>>(problem: T, source: Source): T & Problem {
  const text = source(problem.file);
  return { ...problem, excerpt: text === undefined ? null : excerptOf(text, problem) };
}

/** Milliseconds for checking all blocks of an app. */
const MAX_CHECK_TIME = 5000;

/** The problem of each block of an app: in its files, its running logic, or its view. @param views the site's */
export async function blockProblems(
  services: HttpServices,
  site: Site,
  views: Views,
  app: App,
): Promise<Map<Block, Problem | null>> {
  const deadline = performance.now() + MAX_CHECK_TIME;
  const problems = new Map<Block, Problem | null>();
  const paused = await services.logic.paused();
  for (const block of app.blocks.values()) {
    const broken = block.error ?? layoutError(services, block) ?? (await logicError(services, app, block, deadline));
    const source = (file: string) => sourceOf(app, file);
    const problem =
      problemOf(broken, source) ??
      breakerProblem(paused, site, app, block) ??
      problemOf(viewProblem(views, app, block), source);
    problems.set(block, problem ?? blockFailures(app, block)[0] ?? null);
  }
  return problems;
}

/** The recent failures of a block. */
export function blockFailures(app: App, block: Block): BlockFailure[] {
  return failuresOf(block).map((failure) => quoted(failure, (file) => sourceOf(app, file)));
}

/** The problems of the theme's own files; those of blocks are listed with their apps. */
export async function siteProblems(services: HttpServices, site: Site): Promise<Problem[]> {
  const theme = await services.sites.theme(site);
  if (!theme) return [withoutPosition(`There is no theme "${site.theme}"`, '')];
  const errors = await themeErrors(services, site, theme);
  return errors.flatMap((error) => problemOf(error, (file) => theme.files.get(file)?.text) ?? []);
}

async function logicError({ logic }: HttpServices, app: App, block: Block, deadline: number) {
  return block.logic && logic.problem(programOf(app, block.logic), deadline);
}

function layoutError({ layouts }: HttpServices, { layout }: Block): AppsError | null {
  return layout && attempt(() => layouts.compile(layout)).error;
}

/** The problem of a block whose circuit breaker is open. */
function breakerProblem(paused: readonly PausedLogic[], site: Site, app: App, block: Block): Problem | null {
  const scope = `${site.id}/${app.folder.themeId}/${app.id}`;
  const open = paused.find((one) => one.scope === scope && one.path === block.logic?.path);
  if (!open) return null;
  return withoutPosition(`Paused for ${open.seconds} s: its logic went over its limits again and again`, open.path);
}

const withoutPosition = (message: string, file: string): Problem => {
  return { message, file, line: null, column: null, excerpt: null };
};
