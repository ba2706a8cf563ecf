import type { ChangedRecord } from '../../apps';

/** Changed records of an app; null: more than are named. */
export type AppChanges = readonly ChangedRecord[] | null;

/** Changes that were committed together, as they are sent to the pages that wait. */
export interface Publication {
  /** When they were published, by the clock of the process `origin`. */
  at: number;
  origin: string;
  /** Tokens of the topics that have changed. */
  tokens: readonly string[];
  /** By the token of `any` record of the app. Undefined: by another version of the plugin. */
  apps: ReadonlyMap<string, AppChanges> | undefined;
}

/** Joins changes of one app; null where they are more than `max`. */
export function joined(one: AppChanges | undefined, other: AppChanges, max: number): AppChanges {
  if (one === null || other === null) return null;
  const all = one ? [...one, ...other] : other;
  return all.length > max ? null : all;
}
