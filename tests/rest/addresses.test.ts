import { beforeAll } from 'vitest';
import { useStage } from '../support/hooks';
import { useOpenApi } from '../support/openapi';
import { grantArticles } from '../support/seed';
import { contentPaths } from './addresses/content';
import { restOfTheHost } from './addresses/host';
import { ids } from './addresses/ids';
import { jsonOrPage } from './addresses/negotiation';
import { configuredOrigin } from './addresses/origin';

const stage = useStage({ env: { APPS_CORS_ORIGINS: 'https://there.example, https://app.example' } });
useOpenApi(stage);

beforeAll(async () => {
  await grantArticles(stage.host, 'Public');
  await stage.host.run(async (strapi) => {
    const articles = strapi.documents('api::article.article');
    const article = (slug: string) => ({ title: `Title of ${slug}`, slug, secret: `secret of ${slug}`, tiles: [] });
    await articles.create({ data: article('one'), status: 'published' });
    await articles.create({ data: article('hidden') });
    await strapi.documents('api::page.page').create({ data: { title: 'About', slug: 'about', tiles: [] } });
  });
});

ids(stage);
configuredOrigin(stage);
jsonOrPage(stage);
contentPaths(stage);
restOfTheHost(stage);
