import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes, useTwin } from '../support/hooks';
import type { Host } from '../support/host';
import { article, grantArticles } from '../support/seed';
import { type Credential, send } from '../support/send';

/** Changes that are made while others read: `TEST_EXACT_RACES=3000 npm run test:e2e -- tests/embedding/exact-races.test.ts`. */
const rounds = Number(process.env.TEST_EXACT_RACES ?? 8);

const logic = `
export function articles({ api }) {
  try { return api.documents('${article}').findMany({ sort: 'title' }).map((one) => one.title).join(' '); }
  catch (error) { return error.name; }
}
export function records({ app }) { return app.search('size>1').map((one) => one.id + one.get('size')).join(' '); }
export function current({ content }) { return content.title; }
export function group({ app }) { return app.acl.current_user_groups().join() + app.acl.has_access_right('author'); }
`;
const names = ['articles', 'records', 'current', 'group'];
const themes = useThemes({
  'main/apps/races/settings.yaml': 'debug: true\nacl: { rights: { reader: [Public, readers], author: [readers] } }\n',
  'main/apps/races/blocks/item.yaml': 'elements: { size: { type: NUMBER, index_type: field } }\n',
  ...Object.fromEntries(
    names.flatMap((name) => [
      [`main/apps/races/blocks/${name}.html`, `<p>{${name}}</p>`],
      [`main/apps/races/blocks/${name}.js`, logic],
      [`main/apps/races/blocks/${name}.yaml`, `elements: { ${name}: BASIC }\n`],
    ]),
  ),
  'main/templates/portal.html': names.map((name) => `{% block 'races/blocks/${name}' %}`).join(''),
  'main/templates/article.html': "{{ context.content.title }}{% block 'races/blocks/current' %}",
});

const paths = [
  ...names.map((name) => `/site/@@apps/races/blocks/${name}`),
  ...names.map((name) => `/site/@@apps/races/blocks/${name}/${name}`),
  ...['/site/', '/site/articles/first', '/site/articles/first/@@apps/races/blocks/current'],
];

/** Without what differs between two answers to the same request. */
const plain = (text: string, { url }: Host): string =>
  text.replaceAll(url, 'http://host').replace(/(name="(?:_csrf|_shown)" value=")[^"]*/g, '$1');

describe.each(await availableClients())('changes while others read, on %s', (client) => {
  const database = useDatabase(client);
  const options = (exactCache: boolean) => () => ({
    themesDirectory: themes.directory,
    env: { ...database().address.env, ...configured({ apps: { exactCache } }) },
  });
  const stage = useStage(options(true));
  const twin = useTwin(stage, options(true));
  const without = useTwin(stage, options(false));

  beforeAll(async () => {
    await grantArticles(stage.host, 'Public');
    await grantArticles(stage.host, 'readers');
    await stage.host.run(
      (strapi, uid) =>
        strapi
          .documents(uid as never)
          .create({ data: { title: 'A', slug: 'first' } as never, status: 'published' } as never),
      article,
    );
    await stage.keep('races', 'r1', { block: 'item', size: 2 });
  });

  const changes: Record<string, (host: Host, round: number) => Promise<unknown>> = {
    content: (host, round) =>
      host.run(
        async (strapi, uid, title) => {
          const found = await strapi.documents(uid as never).findFirst({ filters: { slug: 'first' } } as never);
          const { documentId } = found as { documentId: string };
          const data = { title };
          await strapi.documents(uid as never).update({ documentId, data, status: 'published' } as never);
        },
        article,
        `T${round}`,
      ),
    rows: (host, round) =>
      host.run(
        (strapi, uid, title) => strapi.db.query(uid as never).updateMany({ where: {}, data: { title } as never }),
        article,
        `R${round}`,
      ),
    record: async (host, round) => {
      const headers = { accept: 'application/json', 'x-csrf-token': await stage.csrf('mona') };
      const as = await stage.credential('mona');
      const json = { size: round };
      const answer = await send(host.url, { method: 'PATCH', path: '/site/@@apps/races/record/r1', as, headers, json });
      expect(answer.status).toBe(200);
    },
    permission: (host, round) => toggle(host, `${article}.find`, round % 2 ? 'public' : 'readers'),
  };

  test(
    `${rounds} changes are in every answer after them`,
    async () => {
      const who: Credential[] = [null, await stage.credential('rita')];
      for (let round = 0; round < rounds; round += 1) {
        const kind = Object.keys(changes)[round % 4] as string;
        const change = changes[kind]?.([stage.host, twin][(round >> 2) % 2] as Host, round >> 3);
        const others: Promise<unknown>[] = [];
        for (let n = 0; n < 16; n += 1) {
          others.push(
            answerOf(
              [stage.host, twin][n % 2] as Host,
              paths[(n + round) % paths.length] as string,
              who[(n >> 1) % 2] as Credential,
            ),
          );
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await change;
        for (const as of who)
          for (const path of paths) {
            const hosts = [stage.host, twin, without];
            const [one, two, fresh] = await Promise.all(hosts.map((host) => answerOf(host, path, as)));
            const title = `${path} as ${as ? 'rita' : 'anonymous'} after ${kind}, round ${round}`;
            expect(one, title).toBe(fresh);
            expect(two, title).toBe(fresh);
          }
        await Promise.all(others);
      }
    },
    rounds * 2_000 + 60_000,
  );

  test.each([false, true])('a transaction of the host that ends late, rolled back: %j', async (isRolledBack) => {
    await Promise.all([stage.host, twin].map((host) => answerOf(host, '/site/articles/first', null)));
    const change = lateChange(stage.host, `Late ${isRolledBack}`, isRolledBack);
    for (let n = 0; n < 8; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (const host of [stage.host, twin]) void answerOf(host, '/site/articles/first', null);
    }
    await change;
    const hosts = [stage.host, twin, without];
    const [one, two, fresh] = await Promise.all(hosts.map((host) => answerOf(host, '/site/articles/first', null)));
    expect(fresh?.includes(`Late ${isRolledBack}`)).toBe(!isRolledBack);
    expect([one, two]).toEqual([fresh, fresh]);
  });

  async function answerOf(host: Host, path: string, as: Credential): Promise<string> {
    const answer = await send(host.url, { method: 'GET', path, headers: { accept: 'text/html' }, as });
    return `${answer.status} ${plain(answer.text, host)}`;
  }
});

/** Gives a role a permission, or takes it away. */
function toggle(host: Host, action: string, type: string): Promise<void> {
  return host.run(
    async (strapi, action, type) => {
      const permissions = strapi.db.query('plugin::users-permissions.permission');
      const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type } });
      const known = await permissions.findMany({ where: { action, role: role.id } });
      if (known.length === 0) await permissions.create({ data: { action, role: role.id } });
      for (const { id } of known) await permissions.delete({ where: { id } });
    },
    action,
    type,
  );
}

/** Changes the titles of articles in a transaction that stays open for a while. */
function lateChange(host: Host, title: string, isRolledBack: boolean): Promise<void> {
  return host.run(
    async (strapi, uid, title, isRolledBack) => {
      const work = strapi.db.transaction(async () => {
        await strapi.db.query(uid as never).updateMany({ where: {}, data: { title } as never });
        await new Promise((resolve) => setTimeout(resolve, 500));
        if (isRolledBack) throw new Error('rolled back');
      });
      await work.catch(() => undefined);
    },
    article,
    title,
    isRolledBack,
  );
}
