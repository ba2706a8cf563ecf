import {
  type App,
  checkApp,
  type LintProblem,
  type LintServices,
  located,
  programOf,
  sorted,
  sourceOf,
} from '../../../apps';
import { isAppsError } from '../../../common/errors';
import { emptyContext, noHost } from '../../../logic';
import type { HttpServices } from '../../request/exchange';

/**
 * The problems of an app as the command line's `lint` finds them.
 * @param deadline in `performance.now()` milliseconds: logic that was not loaded by then is checked without its functions
 */
export async function lintProblems(
  { layouts, logic, config, outbound }: Pick<HttpServices, 'layouts' | 'logic' | 'config' | 'outbound'>,
  app: App,
  deadline = Number.POSITIVE_INFINITY,
): Promise<LintProblem[]> {
  const found: LintProblem[] = [];
  const services: LintServices = {
    layouts,
    warningsOf: () => [],
    imagePixels: config.limits.imagePixels,
    outbound,
    async usesOf(checked, block, functions) {
      if (!block.logic || performance.now() > deadline) return { mistakes: [], searches: [] };
      return logic.uses(programOf(checked, block.logic), functions);
    },
    async functionsOf(checked, block) {
      if (!block.logic) return new Set();
      if (performance.now() > deadline) return null;
      try {
        const session = await logic.open(programOf(checked, block.logic), emptyContext, noHost, logic.budget());
        session.close();
        return session.functions;
      } catch (error) {
        if (isAppsError(error, 'ServiceUnavailableError')) return null;
        throw error;
      }
    },
  };
  const linted = { theme: app.folder.themeId, app: app.id, prefix: '', source: (file: string) => sourceOf(app, file) };
  await checkApp(services, app, (finding) => void found.push(located(finding, linted)));
  return sorted(found);
}
