import { scheduleMeanings, sorted } from '../../../server/src/apps';
import type { Run } from '../command';
import { exitCodes } from '../exit';
import { allThemes } from '../themes';
import { countsOf, findProblems } from './find';
import { checkNames } from './names';
import { showResult } from './report';
import { createServices } from './services';
import { targetsOf } from './targets';

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
  const targets = await targetsOf(services, places, args.target);
  const found = await findProblems(host, services, targets, cwd, options.types === true);
  await services.destroy();
  if (options.host) await checkNames(host, found.apps);

  const { problems } = found;
  const counts = countsOf(targets, found);
  const schedules = found.apps.flatMap(({ app, prefix }) => scheduleMeanings(app, prefix));
  showResult(
    { problems: sorted(problems), notes: [...notes], schedules, counts, time: performance.now() - begin },
    output,
  );
  return problems.some(({ severity }) => severity === 'error') ? exitCodes.problems : exitCodes.fine;
};
