import { useStage, useThemes } from '../support/hooks';
import { visitorsApps } from './visitors/apps';
import { browsers } from './visitors/browsers';
import { entries } from './visitors/entries';
import { logins } from './visitors/logins';
import { validation } from './visitors/validation';

/** What visitors see of a form that is refused, interrupted by a login, or sent by another button than its own. */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(visitorsApps)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

validation(stage);
entries(stage);
logins(stage);
browsers(stage);
