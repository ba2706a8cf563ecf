import { beforeAll } from 'vitest';
import { useStage } from '../support/hooks';
import { grantArticles, grantRole } from '../support/seed';
import type { Stage } from '../support/stage';
import { siteThemes } from '../support/theme';
import { caching } from './pages/caching';
import { embeddedBlocks } from './pages/embedded';
import { themeRules } from './pages/rules';
import { smallThemes } from './pages/small-themes';
import { templates } from './pages/templates';
import { views } from './pages/views';

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>javascript:alert(1)`;

/** Articles whose addresses name their purpose. */
const articles: { slug: string; title: string; summary?: string; tiles?: string[]; draft?: boolean }[] = [
  { slug: 'plain', title: 'Plain', summary: 'A summary' },
  { slug: 'rules', title: 'Rules', tiles: ['show/blocks/where'] },
  { slug: 'replace', title: 'Replace' },
  { slug: 'nested', title: 'Nested' },
  { slug: 'conditional', title: 'Conditional' },
  { slug: 'failing', title: 'Failing' },
  { slug: 'looping', title: 'Looping', tiles: ['show/blocks/hello'] },
  { slug: 'unbalanced', title: 'Unbalanced' },
  {
    slug: 'tiles',
    title: 'Tiles',
    tiles: [
      'show/blocks/hello?who=tile',
      'bad/blocks/fails',
      'show/blocks/secret',
      'no such thing',
      'bad/blocks/syntax',
      'show/blocks/hello?who=last',
    ],
  },
  { slug: 'hostile', title: hostile, summary: hostile, tiles: [hostile] },
  { slug: 'hidden-draft', title: 'Draft', draft: true },
];

async function makeArticles(stage: Stage): Promise<void> {
  for (const role of ['Public', 'readers', 'editors', 'managers']) {
    await grantArticles(stage.host, role);
  }
  await grantRole(stage.host, 'readers', ['api::page.page.find']);
  await stage.host.run(async (strapi, articles) => {
    for (const { slug, title, summary, tiles = [], draft } of articles) {
      const data = {
        slug,
        title,
        summary,
        secret: 'hush',
        tiles: tiles.map((block) => ({ __component: 'tiles.block', block })),
      };
      await strapi
        .documents('api::article.article')
        .create({ data: data as never, status: draft ? 'draft' : 'published' });
    }
    await strapi.documents('api::page.page').create({ data: { title: 'Members', slug: 'members' } });
  }, articles);
}

const stage = useStage({ themesDirectory: siteThemes, env: { TEST_LOGIC_TIME: '2000' } });

beforeAll(async () => {
  await makeArticles(stage);
});

templates(stage);
themeRules(stage);
embeddedBlocks(stage);
views(stage);
caching(stage);
smallThemes();
