import type { Run } from '../types';

/** Whether error details may be shown: in debug mode, or to a manager (docs/errors.md#messages). */
export function showsDetails(run: Pick<Run, 'app' | 'rights'>): boolean {
  return run.app.settings.debug || run.rights.manager;
}
