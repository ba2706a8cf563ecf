import type { LintProblem as Problem, ScheduleMeaning } from '../../../server/src/apps';
import { positionText } from '../../../shared/positions';
import type { Output } from '../output';

export interface Result {
  problems: readonly Problem[];
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
