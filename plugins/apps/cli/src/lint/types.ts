import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import type TypeScript from 'typescript';
import {
  type LintServices as AppLintServices,
  loadApp,
  programOf,
  type Report,
  type ThemeServices,
} from '../../../server/src/apps';
import { sitesOfThemes } from '../../../server/src/archive';
import { isAppsError } from '../../../server/src/common/errors';
import { createLayouts, createMarkdown, createMarkup, type Markup } from '../../../server/src/layouts';
import { createLogicRuntime, emptyContext, noHost } from '../../../server/src/logic';
import { createOutbound } from '../../../server/src/outbound';
import { PACKAGE, packageFolder } from '../../../server/src/package-files';
import type { AppFolder, Sites } from '../../../server/src/sites/types';
import { createWorkers } from '../../../server/src/workers';
import { CannotRun } from '../command';
import type { Host } from '../host';
import type { ThemePlace } from '../themes';

/** TypeScript's code of the error for a configuration that names no files. */
const NO_INPUTS = 18003;

/** Options of a theme without a `tsconfig.json`: as in the starter's, whose `types` the program gets as a file. */
const defaults = {
  target: 'ES2022',
  lib: ['ES2022'],
  module: 'ESNext',
  moduleResolution: 'Bundler',
  types: [],
  strict: true,
  noEmit: true,
  allowJs: true,
  resolveJsonModule: true,
  skipLibCheck: true,
};

/**
 * Checks the types of a theme's TypeScript logic with the host's TypeScript: as its `tsconfig.json` says, else strictly.
 * @param reports what each app reports to, by its id, with files relative to its folder
 * @returns logic of these apps that the configuration leaves out: absolute paths
 */
export function checkTypes(host: Host, { folder, apps }: ThemePlace, reports: ReadonlyMap<string, Report>): string[] {
  const ts = typescriptOf(host);
  const config = configOf(ts, folder, apps);
  const [broken] = config.errors.filter(({ file, code }) => !file && code !== NO_INPUTS);
  if (broken) throw new CannotRun(`${folder}: ${ts.flattenDiagnosticMessageText(broken.messageText, '\n')}`);
  const isChecked = (file: string) => reports.has(appOf(apps, file));
  const files = config.fileNames.filter(isChecked);
  const logic = ts.sys
    .readDirectory(apps, ['.ts'], ['**/node_modules', '**/*.d.ts'], ['*/blocks/**/*', '*/lib/**/*'])
    .filter(isChecked);
  if (files.length === 0) return logic;
  const options = {
    ...config.options,
    noEmit: true,
    incremental: false,
    composite: false,
    paths: pathsOf(config.options),
  };
  const program = ts.createProgram({ rootNames: [...files, typesOf('shared', 'globals')], options });
  for (const { file, start, messageText } of ts.getPreEmitDiagnostics(program)) {
    const report = file && reports.get(appOf(apps, file.fileName));
    if (!file || start === undefined || !report) continue;
    const { line, character } = file.getLineAndCharacterOfPosition(start);
    const path = relative(join(apps, appOf(apps, file.fileName)), file.fileName)
      .split(sep)
      .join('/');
    const message = ts.flattenDiagnosticMessageText(messageText, '\n');
    report({ severity: 'error', position: { file: path, line: line + 1, column: character + 1 }, message });
  }
  return logic.filter((file) => !program.getSourceFile(file));
}

const appOf = (apps: string, file: string) => relative(apps, file).split(/[\\/]/)[0] ?? '';

/** A file of the package's types. */
const typesOf = (folder: string, name: string) => join(packageFolder, 'dist', folder, `${name}.d.ts`);

/** The package's types of what logic and tests import, also where the theme is outside of the host's folder. */
const pathsOf = ({ paths }: TypeScript.CompilerOptions) => ({
  [`${PACKAGE}/context`]: [typesOf('shared', 'context')],
  [`${PACKAGE}/testing`]: [typesOf('testing', 'index')],
  ...paths,
});

function configOf(ts: typeof TypeScript, folder: string, apps: string): TypeScript.ParsedCommandLine {
  const file = join(folder, 'tsconfig.json');
  const given = existsSync(file)
    ? (ts.readConfigFile(file, ts.sys.readFile).config ?? {})
    : { compilerOptions: defaults, include: [`${apps}/**/*.ts`] };
  return ts.parseJsonConfigFileContent(given, ts.sys, dirname(file));
}

function typescriptOf({ root }: Host): typeof TypeScript {
  for (const from of [root ?? '', packageFolder].filter(Boolean)) {
    try {
      return createRequire(join(from, 'package.json'))('typescript') as typeof TypeScript;
    } catch {
      // The next one may have it.
    }
  }
  throw new CannotRun(
    'Types cannot be checked: the host has no TypeScript',
    'Run `npm install --save-dev typescript`.',
  );
}

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
