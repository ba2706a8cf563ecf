import { join } from 'node:path';
import { type LintServices as AppLintServices, loadApp, programOf, type ThemeServices } from '../../../server/src/apps';
import { sitesOfThemes } from '../../../server/src/archive';
import { isAppsError } from '../../../server/src/common/errors';
import { createLayouts, createMarkdown, createMarkup, type Markup } from '../../../server/src/layouts';
import { createLogicRuntime, emptyContext, noHost } from '../../../server/src/logic';
import { createOutbound } from '../../../server/src/outbound';
import { packageFolder } from '../../../server/src/package-files';
import type { AppFolder, Sites } from '../../../server/src/sites/types';
import { createWorkers } from '../../../server/src/workers';
import type { Host } from '../host';

/** The server's own parts that read themes, without a database and without Strapi. Each theme is the site of its id. */
export interface LintServices extends ThemeServices, AppLintServices {
  sites: Sites;
  /** Begins a page: its HTML is searched within the server's limits. */
  markup(): Markup;
  /** Why the link of a theme leads to no app; undefined for one that does. */
  linkProblem(theme: string, appId: string): string | undefined;
  destroy(): Promise<void>;
}

const keyOf = ({ themeId, appId }: AppFolder) => `${themeId}/${appId}`;

/** Processes that compile, and megabytes of each. */
const workerProcesses = { count: 2, memory: 256 };

export function createServices(
  { config }: Host,
  themes: readonly string[],
  note: (text: string) => void,
): LintServices {
  const aboutLinks: string[] = [];
  const aboutApps = new Map<string, string[]>();
  const logger = {
    warn: (message: string) => void aboutLinks.push(message.replace(/^\[apps\] /, '')),
    error: note,
  };
  const workers = createWorkers({
    path: join(packageFolder, 'dist', 'server', 'worker.js'),
    ...workerProcesses,
    logger,
  });
  const outbound = createOutbound(config.fetch);
  const { limits, sandbox } = config;
  const runnerPath = join(packageFolder, 'dist', 'sandbox', 'runner.js');
  const logic = createLogicRuntime({ limits, sandbox, logger, runnerPath, workers });
  const sites = sitesOfThemes(config, themes, logger.warn);
  const add = (folder: AppFolder, message: string) => {
    aboutApps.set(keyOf(folder), [...(aboutApps.get(keyOf(folder)) ?? []), message]);
  };
  return {
    sites,
    layouts: createLayouts({}, createMarkdown(workers)),
    markup: () => createMarkup(workers),
    async loadApp(site, id) {
      const folder = await sites.app(site, id);
      return folder && loadApp(folder, (message) => add(folder, message));
    },
    async usesOf(app, block, functions) {
      return block.logic ? logic.uses(programOf(app, block.logic), functions) : { mistakes: [], searches: [] };
    },
    async functionsOf(app, block) {
      if (!block.logic) return new Set();
      try {
        const session = await logic.open(programOf(app, block.logic), emptyContext, noHost, logic.budget());
        session.close();
        return session.functions;
      } catch (error) {
        if (!isAppsError(error, 'ServiceUnavailableError')) throw error;
        note(`Logic is not loaded, so its functions are not checked: ${error.message}`);
        return null;
      }
    },
    imagePixels: limits.imagePixels,
    outbound,
    warningsOf: ({ folder }) => aboutApps.get(keyOf(folder)) ?? [],
    linkProblem: (theme, id) =>
      aboutLinks.find((text) => text.startsWith(`The link ${theme} `) && text.includes(` for the app "${id}" `)),
    destroy: async () => void (await Promise.all([logic.destroy(), workers.destroy(), outbound.destroy()])),
  };
}
