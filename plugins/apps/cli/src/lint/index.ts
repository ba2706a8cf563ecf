import { join, relative, sep } from 'node:path';
import {
  type App,
  checkApp,
  type LintedApp,
  type LintProblem,
  located,
  type Report,
  sorted,
  sourceOf,
} from '../../../server/src/apps';
import type { Run } from '../command';
import { exitCodes } from '../exit';
import { allThemes } from '../themes';
import { checkNames } from './names';
import { showResult } from './report';
import { createServices } from './services';
import { type Target, targetsOf } from './targets';
import { checkLinks, checkTheme } from './theme';
import { checkTypes } from './types';

const NAMES_NOTE =
  'Names in acl and view_permission are not compared with users and roles: add --host to ask the host.';

/** Checks the files of themes and apps with the server's own code. */
export const run: Run = async ({ args, options, output, cwd, host: find }) => {
  const begin = performance.now();
  const host = find();
  const notes = new Set<string>(options.host ? [] : [NAMES_NOTE]);
  const places = allThemes(host);
  const services = createServices(
    host,
    places.map(({ id }) => id),
    (text) => notes.add(text),
  );
  const problems: LintProblem[] = [];
  const apps: { app: App; report: Report }[] = [];
  const from = (folder: string) => `${relative(cwd, folder).split(sep).join('/')}/`.replace(/^\/$/, '');
  const reportTo =
    (linted: LintedApp): Report =>
    (finding) =>
      void problems.push(located(finding, linted));

  async function checkTarget({ place, site, apps: ids, whole }: Target): Promise<void> {
    const theme = place.id;
    if (whole) {
      const files = (await services.sites.theme(site))?.files;
      const source = (file: string) => files?.get(file)?.text;
      await checkTheme(services, site, reportTo({ theme, app: null, prefix: from(place.folder), source }));
      const inApps = { theme, app: null, prefix: from(place.apps), source: () => undefined };
      await checkLinks(services, site, place, reportTo(inApps));
    }
    const reports = new Map<string, Report>();
    for (const id of ids) {
      const app = await services.loadApp(site, id);
      if (!app) continue;
      const prefix = from(join(place.apps, id));
      const report = reportTo({ theme, app: id, prefix, source: (file) => sourceOf(app, file) });
      reports.set(id, report);
      apps.push({ app, report });
      await checkApp(services, app, report);
    }
    if (options.types) checkTypes(host, place, reports);
  }

  const targets = await targetsOf(services, places, args.target);
  for (const target of targets) await checkTarget(target);
  await services.destroy();
  if (options.host) await checkNames(host, apps);

  const counts = {
    themes: targets.length,
    apps: apps.length,
    blocks: apps.reduce((sum, { app }) => sum + app.blocks.size, 0),
  };
  showResult({ problems: sorted(problems), notes: [...notes], counts, time: performance.now() - begin }, output);
  return problems.some(({ severity }) => severity === 'error') ? exitCodes.problems : exitCodes.fine;
};
