import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, sep } from 'node:path';
import type { ArchiveFinding, ArchiveTests } from '../../../../../shared/admin-api';
import { loadApp } from '../../../apps';
import { sitesOfThemes, type Unpacked } from '../../../archive';
import { AppsError, errorText, isAppsError } from '../../../common/errors';
import type { HttpServices } from '../../request/exchange';
import { lintProblems } from './lint-problems';

/** Milliseconds for loading the logic of all apps of a ZIP, and for its tests. */
const TIME = { lint: 20_000, tests: 120_000 };
/** Findings and failures of an answer, and characters of a failure. */
const MAX = { findings: 200, failures: 50, message: 2_000 };

const TEST_FILE = /(?:^|\/)tests\/(?:.+\/)?[^/]+\.test\.(?:js|ts)$/;

/** What `lint` finds in the apps of an unpacked ZIP. */
export async function findingsOf(
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
    ...{ passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    failures: failures.slice(0, MAX.failures),
    message: problem && [problem.message, problem.cure].filter(Boolean).join('. ').slice(0, MAX.message),
  };
}
