import { beforeAll, beforeEach } from 'vitest';
import { useStage } from '../support/hooks';
import { grantArticles } from '../support/seed';
import { siteThemes } from '../support/theme';
import { administrationOfRules } from './rules/administration';
import { callsOfRules } from './rules/calls';
import { callsFromCode } from './rules/code';

const stage = useStage({ themesDirectory: siteThemes, env: { APPS_THEME: 'events', TEST_LOGIC_TIME: '2000' } });

beforeAll(async () => {
  await grantArticles(stage.host, 'editors', ['find', 'findOne', 'create', 'update', 'delete']);
  await grantArticles(stage.host, 'Public');
});

beforeEach(() =>
  stage.host.run(async (strapi) => {
    await strapi.db.query('plugin::apps.rule').deleteMany({ where: {} });
    await strapi.db.query('plugin::apps.record').deleteMany({ where: {} });
  }),
);

callsOfRules(stage);
administrationOfRules(stage);
callsFromCode(stage);
