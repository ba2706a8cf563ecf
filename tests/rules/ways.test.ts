import { beforeAll, beforeEach } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { type AppName, appSettings, ruleApps } from './ways/apps';
import { rulesOfLogic } from './ways/logic';
import { rules } from './ways/rules';
import { wayNames } from './ways/send';
import { forgetRecords, prepare, rightRequests, tableOfRules } from './ways/table';

/** Each rule of an author holds for each way in (docs/reference/rules.md). */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(ruleApps)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));
const apps = Object.keys(appSettings) as AppName[];

beforeAll(() => prepare(stage, apps));
beforeEach(() => forgetRecords(stage, apps));

rightRequests(stage, wayNames);
tableOfRules(stage, rules, wayNames);
rulesOfLogic(stage);
