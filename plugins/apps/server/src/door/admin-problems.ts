import type { Problem } from '../../../shared/admin-api';
import { type App, type Block, programOf } from '../apps';
import { type AppsError, isAppsError } from '../errors';
import type { Site } from '../sites/types';
import type { DoorServices } from './exchange';
import { type Views, viewProblem } from './views';

/** What the panel shows of an error beside its place, which the message of a definition error begins with. */
export function problemOf(error: AppsError | null): Problem | null {
  if (!error) return null;
  const { file = '', line = null, column = null } = error.position ?? {};
  const place = [file, line, column].filter((part) => part !== null).join(':');
  return { message: error.message.replace(`${place}: `, ''), file, line, column };
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
    problems.set(block, problem);
  }
  return problems;
}

async function logicError({ logic }: DoorServices, app: App, block: Block, deadline: number) {
  return block.logic && logic.problem(programOf(app, block.logic), deadline);
}

function layoutError({ layouts }: DoorServices, { layout }: Block): AppsError | null {
  try {
    if (layout) layouts.compile(layout);
    return null;
  } catch (error) {
    if (isAppsError(error)) return error;
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
