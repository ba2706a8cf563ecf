import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { editedApp } from './edited/app';
import { browsers } from './edited/browsers';
import { boundsOfTimes, untouchedFields } from './edited/fields';
import { repeatedRequests } from './edited/repeated';
import { repeatedFiles } from './edited/repeated-files';
import { twoPeople } from './edited/two-people';

/** Forms that change records: nothing is lost, and nothing is done twice (docs/reference/layouts.md#posting-a-form). */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(editedApp)) await copy.write(`main/${file}`, text);
});
const sites = [
  { id: 'site', title: 'Site', theme: 'main' },
  { id: 'berlin', title: 'Berlin', theme: 'main', timeZone: 'Europe/Berlin' },
];
const stage = useStage(() => ({ themesDirectory: themes.directory, env: configured({ apps: { sites } }) }));

untouchedFields(stage);
boundsOfTimes(stage);
twoPeople(stage);
repeatedRequests(stage);
repeatedFiles(stage);
browsers(stage);
