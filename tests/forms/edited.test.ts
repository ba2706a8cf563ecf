import { useStage, useThemes } from '../support/hooks';
import { editedApp } from './edited/app';
import { browsers } from './edited/browsers';
import { untouchedFields } from './edited/fields';
import { repeatedRequests } from './edited/repeated';
import { repeatedFiles } from './edited/repeated-files';
import { twoPeople } from './edited/two-people';

/** Forms that change records: nothing is lost, and nothing is done twice (docs/reference/layouts.md#posting-a-form). */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(editedApp)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

untouchedFields(stage);
twoPeople(stage);
repeatedRequests(stage);
repeatedFiles(stage);
browsers(stage);
