import { beforeAll, beforeEach, describe } from 'vitest';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { type AppName, ruleApps } from './ways/apps';
import { rules } from './ways/rules';
import { wayNames } from './ways/send';
import { forgetRecords, prepare, rightRequests, tableOfRules } from './ways/table';

/** The rules that ask the database, on servers; all rules, on SQLite, are in ways.test.ts. */
const servers = (await availableClients()).filter((client) => client !== 'sqlite');
const asking = rules.filter(({ title }) => /^(a reference|a file|owner)/.test(title));

describe.each(servers)('on %s', (client) => {
  const themes = useThemes(async (copy) => {
    for (const [file, text] of Object.entries(ruleApps)) await copy.write(`main/${file}`, text);
  });
  const database = useDatabase(client);
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: database().address.env }));
  const apps: AppName[] = ['strict', 'free'];

  beforeAll(() => prepare(stage, apps));
  beforeEach(() => forgetRecords(stage, apps));

  rightRequests(stage, wayNames);
  tableOfRules(stage, asking, wayNames);
});
