import { cp, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, sep } from 'node:path';
import type { Context } from 'koa';
import { z } from 'zod';
import type {
  ArchiveFinding,
  ArchiveResult,
  ArchiveTests,
  archiveRoutes,
  LinkInput,
} from '../../../../shared/admin-api';
import { loadApp } from '../../apps';
import {
  ArchiveError,
  filesBelow,
  importArchive,
  packed,
  sitesOfThemes,
  type ThemeFolders,
  type Unpacked,
} from '../../archive';
import { AppsError, errorText, isAppsError, notFound } from '../../common/errors';
import { must, readParameters, validateBody } from '../../common/validation';
import { isId } from '../../sites';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { actorOf, audited } from './acting';
import { lintProblems, requireEditing } from './code';
import { type Handlers, withUpload } from './handler';

/** Milliseconds for loading the logic of all apps of a ZIP, and for its tests. */
const TIME = { lint: 20_000, tests: 120_000 };
/** Findings and failures of an answer, and characters of a failure. */
const MAX = { findings: 200, failures: 50, message: 2_000 };

const TEST_FILE = /(?:^|\/)tests\/(?:.+\/)?[^/]+\.test\.(?:js|ts)$/;

/** What `lint` finds in the apps of an unpacked ZIP. */
async function findingsOf(
  services: HttpServices,
  { themesDirectory, theme, contents }: Unpacked,
): Promise<ArchiveFinding[]> {
  const { appsFolder } = services.config;
  const sites = sitesOfThemes({ themesDirectory, appsFolder }, [theme], () => undefined);
  const site = await sites.site(theme);
  if (!site) return [];
  const deadline = performance.now() + TIME.lint;
  const findings: ArchiveFinding[] = [];
  for (const id of contents.kind === 'app' ? [contents.id] : await sites.apps(site)) {
    const folder = await sites.app(site, id);
    if (!folder || findings.length >= MAX.findings) continue;
    const problems = await lintProblems(services, await loadApp(folder), deadline);
    findings.push(...problems.map(({ theme: _theme, app: _app, ...problem }) => ({ ...problem, app: id })));
  }
  return findings.slice(0, MAX.findings);
}

/** Whether tests run in this process: each run starts a whole Strapi. */
let isRunning = false;

/**
 * The tests of an unpacked ZIP. They run only where they are wanted and the configuration lets them: a test is a program with all
 * rights of the server (docs/decisions/app-tests.md). ConflictError while others run.
 */
export async function testsOf(services: HttpServices, unpacked: Unpacked, wanted: boolean): Promise<ArchiveTests> {
  const { config, development } = services;
  const files = [...unpacked.contents.files.keys()].filter((path) => TEST_FILE.test(path)).length;
  const none = { files, passed: 0, failed: 0, skipped: 0, failures: [], message: null };
  if (files === 0) return { ...none, state: 'none' };
  if (!(config.archiveTests ?? development)) return { ...none, state: 'off' };
  if (!wanted) return { ...none, state: 'ready' };
  if (isRunning) throw new AppsError('ConflictError', 'Tests of another ZIP run; try again in two minutes');
  isRunning = true;
  const themes = await mkdtemp(join(tmpdir(), 'apps-tests-'));
  try {
    return { ...none, ...(await run(services, unpacked, themes)) };
  } catch (error) {
    if (!isAppsError(error)) throw error;
    return { ...none, state: 'broken', message: errorText(error) };
  } finally {
    isRunning = false;
    await rm(themes, { recursive: true, force: true });
  }
}

async function run(
  services: HttpServices,
  { contents: { kind, id }, folder, into }: Unpacked,
  themes: string,
): Promise<Omit<ArchiveTests, 'files'>> {
  const { appsFolder, sites } = services.config;
  // The new host has no choice of an administrator: it has the theme of the configuration.
  const [site] = sites;
  const theme = join(themes, site?.theme ?? 'default');
  if (into) {
    const app = join(into.apps, id);
    const isLeftOut = (path: string) => path === app || path.startsWith(app + sep) || basename(path).startsWith('.');
    await cp(into.folder, theme, { recursive: true, filter: (path) => !isLeftOut(path) });
    await cp(folder, join(theme, appsFolder, id), { recursive: true });
  } else await cp(folder, theme, { recursive: true });
  const wanted = { themes, ...(kind === 'app' && { app: id }), ...(site && { site: site.id }) };
  const { results, problem } = await services.runTests(wanted, TIME.tests);
  const count = (status: string) => results.filter((result) => result.status === status).length;
  const failures = results.flatMap(({ app, file, title, failure }) =>
    failure ? [{ app, file, title: title.join(' › '), message: failure.message.slice(0, MAX.message) }] : [],
  );
  return {
    state: problem ? 'broken' : 'ran',
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    failures: failures.slice(0, MAX.failures),
    message: problem && [problem.message, problem.cure].filter(Boolean).join('. ').slice(0, MAX.message),
  };
}

/** Problems and paths that an answer lists. */
const MAX_LISTED = 500;
const MAX_NAME = 300;

const id = (what: string) => z.string(must(what)).refine(isId, must(what));
const appParameter = z.object({ app: id('the id of an app').optional() });
const linkParameter = z.object({ app: id('the id of an app') });
const linkBody = z.object({ app: id('the id of an app'), theme: id('the id of a theme') });
const options = z.object({
  name: z.string(must('the name of the file')).max(MAX_NAME, must(`at most ${MAX_NAME} characters`)),
  theme: id('the id of a theme').optional(),
  replace: z
    .union([z.boolean(), z.string()], must('the revision of the files that it replaces, true or false'))
    .nullable()
    .default(null),
  write: z.boolean(must('true or false')).default(false),
  tests: z.boolean(must('true or false')).default(false),
});

/** What the admin routes of themes and apps as files answer (shared/admin/code.ts). */
export const archiveHandlers: Handlers<typeof archiveRoutes> = {
  async exportArchive(ctx, services) {
    const theme = await themeOf(services, String(ctx.params.theme));
    const { app } = readParameters(appParameter, ctx.query);
    const folder = app === undefined ? theme.folder : join(theme.apps, app);
    const isThere = await lstat(folder).then(
      (info) => info.isDirectory() || app === undefined,
      () => false,
    );
    if (!isThere) throw notFound(`There is no app "${app}" in the theme "${theme.id}"`);
    const name = app ?? theme.id;
    ctx.type = 'application/zip';
    ctx.set('Content-Disposition', `attachment; filename="${name}.zip"`);
    ctx.set('Cache-Control', 'private, no-store');
    const zip = packed(folder, name, await filesBelow(folder));
    zip.once('error', () => ctx.res.destroy());
    return zip;
  },

  async importArchive(ctx, services): Promise<ArchiveResult> {
    requireEditing(services);
    return withUpload(ctx, async (upload) => {
      const { name, theme, tests: wantsTests, replace, write } = validateBody(options, upload.options);
      const checked: Checked = { findings: [], tests: null };
      const { themesDirectory, appsFolder } = services.config;
      const into = theme === undefined ? null : await themeOf(services, theme);
      const imported = await importArchive({
        themesDirectory,
        appsFolder,
        id: undefined,
        requireApp: into !== null,
        replace: typeof replace === 'string' ? { revision: replace } : replace === true,
        write,
        file: upload.path,
        async inspect(unpacked) {
          checked.findings = await findingsOf(services, unpacked);
          checked.tests = await auditedTests(ctx, services, unpacked, wantsTests);
        },
        fallback: name.replace(/\.zip$/i, ''),
        themeOf: () => {
          if (into) return into;
          throw new ArchiveError('The ZIP holds an app', 'Choose the theme that gets it.');
        },
      }).catch((error: unknown) => {
        if (!(error instanceof ArchiveError)) throw error;
        // Messages of the command line name the file; here it is a temporary one.
        const message = error.message.replaceAll(upload.path, 'The file').replaceAll(themesDirectory, '');
        return { problems: [[message, error.cure].filter(Boolean).join('. ').replaceAll(themesDirectory, '')] };
      });
      return { ...resultOf(imported), ...checked };
    });
  },

  async createLink(ctx, services): Promise<LinkInput> {
    requireEditing(services);
    const { id: ownId, apps } = await themeOf(services, String(ctx.params.theme));
    const { app, theme } = validateBody(linkBody, jsonObject(ctx));
    const other = await themeOf(services, theme);
    const offers = (await services.sites.themes()).find(({ id }) => id === theme)?.apps ?? [];
    if (other.id === ownId || !offers.includes(app))
      throw new AppsError('BadRequestError', `The theme "${theme}" has no app "${app}" that this theme can use`);
    const path = join(apps, `${app}.lnk`);
    if ((await isThere(join(apps, app))) || (await isThere(path)))
      throw new AppsError('ConflictError', `The theme "${ownId}" has an app "${app}" already`);
    await mkdir(apps, { recursive: true });
    // Another request may have made it meanwhile.
    await writeFile(path, `${theme}\n`, { flag: 'wx' });
    ctx.status = 201;
    return { app, theme };
  },

  async deleteLink(ctx, services): Promise<{ success: 'deleted' }> {
    requireEditing(services);
    const { id: ownId, apps } = await themeOf(services, String(ctx.params.theme));
    const { app } = readParameters(linkParameter, ctx.query);
    const path = join(apps, `${app}.lnk`);
    if (!(await isThere(path))) throw notFound(`The theme "${ownId}" has no link to an app "${app}"`);
    await rm(path);
    return { success: 'deleted' };
  },
};

/** Tests of a ZIP are programs with the rights of the server. */
async function auditedTests(ctx: Context, services: HttpServices, unpacked: Unpacked, wanted: boolean) {
  const run = () => testsOf(services, unpacked, wanted);
  if (!wanted) return run();
  const { kind, id } = unpacked.contents;
  const acted = {
    action: 'tests',
    site: null,
    app: kind === 'app' ? id : null,
    block: null,
    requester: 'server',
  } as const;
  return audited(services, await actorOf(ctx, services), acted, run, ({ state }) => (state === 'ran' ? 200 : 500));
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** The folder of a theme. NotFoundError for an unknown one. */
async function themeOf({ sites, config }: HttpServices, theme: string): Promise<ThemeFolders> {
  const known = await sites.themes();
  if (!known.some((one) => one.id === theme)) throw notFound('There is no such theme');
  const folder = join(config.themesDirectory, theme);
  return { id: theme, folder, apps: join(folder, config.appsFolder) };
}

type Checked = Pick<ArchiveResult, 'findings' | 'tests'>;

function resultOf(
  imported: Awaited<ReturnType<typeof importArchive>> | { problems: string[] },
): Omit<ArchiveResult, keyof Checked> {
  if (imported.problems)
    return {
      problems: imported.problems.slice(0, MAX_LISTED),
      kind: null,
      id: null,
      files: 0,
      state: null,
      differences: null,
      revision: null,
    };
  const { contents, state, differences, revision } = imported;
  const shown = differences && {
    added: differences.added.slice(0, MAX_LISTED),
    changed: differences.changed.slice(0, MAX_LISTED),
    removed: differences.removed.slice(0, MAX_LISTED),
  };
  const { kind, id, files } = contents;
  return { problems: [], kind, id, files: files.size, state, differences: shown, revision };
}
