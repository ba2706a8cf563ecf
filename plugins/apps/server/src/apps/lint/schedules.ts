import { didYouMean } from '../../common/did-you-mean';
import { cronWords } from '../../common/time/cron';
import type { App, Block } from '../types';
import { cureOf } from './functions';
import type { Finding } from './problem';

/** Schedules whose function the block does not have. */
export function scheduleFindings(block: Block, functions: ReadonlySet<string>): Finding[] {
  const { logic, definition } = block;
  return definition.schedules.flatMap(({ run, position }) => {
    if (functions.has(run)) return [];
    const lack = logic ? `${logic.path} has no function "${run}"` : 'the block has no logic file';
    const message = `The schedule does nothing: ${lack}${didYouMean(run, [...functions])}`;
    return [{ severity: 'error' as const, position, message, cure: cureOf(block, run) }];
  });
}

/** What a schedule means, for its author. */
export interface ScheduleMeaning {
  file: string;
  line: number | null;
  column: number | null;
  block: string;
  run: string;
  cron: string;
  /** `At 06:00, Monday through Friday, Europe/Paris`. */
  words: string;
}

/** The schedules of an app's blocks in words. @param prefix put before their files */
export function scheduleMeanings(app: App, prefix: string): ScheduleMeaning[] {
  return [...app.blocks.values()].flatMap(({ id, definition }) =>
    definition.schedules.map(({ run, cron, timeZone, position: { file, line = null, column = null } }) => {
      const words = cronWords(cron, timeZone ?? "the site's time zone");
      return { file: prefix + file, line, column, block: id, run, cron, words };
    }),
  );
}
