import { type LintProblem, type ScheduleMeaning, scheduleMeanings, sorted } from '../../../server/src/apps';
import { positionText } from '../../../shared/positions';
import { exitCodes, type RunCommand } from '../command';
import type { Output } from '../output';
import { allThemes } from '../themes';
import { checkNames, countsOf, findProblems, targetsOf } from './find';
import { createServices } from './types';

export interface Result {
  problems: readonly LintProblem[];
  /** Remarks about what was not checked. */
  notes: readonly string[];
  /** What the schedules of the apps mean. */
  schedules: readonly ScheduleMeaning[];
  counts: { themes: number; apps: number; blocks: number };
  /** Milliseconds. */
  time: number;
}

const count = (number: number, one: string) => `${number} ${one}${number === 1 ? '' : 's'}`;

/** Prints the problems, each with its position, excerpt and cure, and a line that counts them. */
export function showResult({ problems, notes, schedules, counts, time }: Result, output: Output): void {
  for (const problem of problems) {
    const { severity, message, excerpt, cure } = problem;
    const colour = severity === 'error' ? 'red' : 'yellow';
    output.line(`${output.paint('bold', positionText(problem))}: ${output.paint(colour, `${severity}:`)} ${message}`);
    if (excerpt !== null) output.line(excerpt.replace(/^/gm, '  '));
    if (cure !== null) output.line(`  ${output.paint('cyan', 'cure:')} ${cure}`);
    output.line();
  }
  const [errors, warnings] = (['error', 'warning'] as const).map(
    (severity) => problems.filter((problem) => problem.severity === severity).length,
  ) as [number, number];
  const checked = `${count(counts.themes, 'theme')}, ${count(counts.apps, 'app')}, ${count(counts.blocks, 'block')}`;
  const found = problems.length === 0 ? 'No problems' : `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
  output.line(`${output.paint(errors > 0 ? 'red' : 'green', found)} in ${checked} (${(time / 1000).toFixed(1)} s)`);
  for (const schedule of schedules) output.note(`${positionText(schedule)}: ${schedule.run}: ${schedule.words}`);
  for (const note of notes) output.note(note);
  output.data({ errors, warnings, problems, notes, schedules, ...counts });
}

const NAMES_NOTE =
  'Names in acl and view_permission are not compared with users and roles: add --host to ask the host.';

/** Checks the files of themes and apps with the server's own code. */
export const run: RunCommand = async ({ args, options, output, cwd, host: find }) => {
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
  for (const note of found.notes) notes.add(note);
  const counts = countsOf(targets, found);
  const schedules = found.apps.flatMap(({ app, prefix }) => scheduleMeanings(app, prefix));
  showResult(
    { problems: sorted(problems), notes: [...notes], schedules, counts, time: performance.now() - begin },
    output,
  );
  return problems.some(({ severity }) => severity === 'error') ? exitCodes.problems : exitCodes.fine;
};
