import { beforeAll, describe, expect, test } from 'vitest';
import type { AuditPage, Preview, RunAgain, RunDetail, RunsPage } from '../../../plugins/apps/shared/admin-api';
import type { Stage } from '../../support/stage';

interface Files {
  write(path: string, text: string): Promise<unknown>;
}

const settings = 'debug: true\nacl:\n  rights:\n    reader: [editors]\n    submitter: ["*"]\n';
const logic = `export function value(context) {
  context.app.log('for ' + context.app.acl.current_user() + ': ' + context.app.get_record('one').get('word'));
  if (context.request.get('bad')) throw new Error('bad');
  return '<b>for ' + (context.app.acl.current_user() ?? 'all') + '</b>';
}
export function send(context) {
  throw new Error('not sent');
}
`;
const word = 'unseen-by-visitors';

/** Calls of unsaved logic that show the app's record, and what they show. */
const reads: [call: string, shown: string][] = [
  ["context.app.get_record('one').get('word')", word],
  ["context.app.records().map((one) => one.get('word')).join()", word],
  ["context.app.search(\"id == 'one'\").map((one) => one.get('word')).join()", word],
  ["'found ' + context.app.count()", 'found 1'],
  ["context.app.get_record('one').display()", word],
  ["context.app.get_block('card').display({ record: 'one' })", word],
];

/** Who may run logic in whose name, what of it is shown, and the audit log of it. */
export function acting(stage: Stage, themes: Files): void {
  const app = 'main/apps/vault';
  const api = '/apps/sites/site/apps/vault';
  const ids: Record<string, string> = {};

  const ask = <T>(as: string, line: string, json?: unknown) => stage.send<T>({ as, send: line, json });
  const preview = (as: string, body: object) =>
    ask<Preview>(as, `POST ${api}/preview`, { block: 'a', who: 'anonymous', ...body });
  const audit = async (query = '', as = 'auditor') =>
    (await ask<AuditPage>(as, `GET /apps/audit?${query}`)).json.entries;
  /** The failed run of a request. */
  const failed = async (as: string, send: string, form?: Record<string, string>): Promise<RunDetail> => {
    await stage.send({ as, send, accept: 'text/html', ...(form && { form }) });
    const { json } = await ask<RunsPage>('root', 'GET /apps/runs?app=vault&state=failed&limit=1');
    return (await ask<RunDetail>('root', `GET /apps/runs/${json.runs[0]?.id}`)).json;
  };
  const again = (as: string, { id }: RunDetail, files = {}) =>
    ask<RunAgain & { error: { message: string } }>(as, `POST /apps/runs/${id}/again`, { files });

  beforeAll(async () => {
    await themes.write(`${app}/settings.yaml`, settings);
    await themes.write(`${app}/blocks/a.yaml`, 'elements:\n  value: BASIC\n  send: { type: ACTION, label: Send }\n');
    await themes.write(`${app}/blocks/a.html`, '<p>{value}</p>{send}');
    await themes.write(`${app}/blocks/a.js`, logic);
    await themes.write(`${app}/blocks/card.yaml`, 'elements:\n  word: TEXT\n');
    await themes.write(`${app}/blocks/card.html`, '{word}');
    await stage.put('vault', 'one', { word, block: 'card' });
    for (const who of ['anna', 'mona', 'eric']) await stage.user(who);
    for (const who of ['maker', 'ada', 'root', 'developer']) {
      const me = await ask<{ data: { id: number } }>(who, 'GET /admin/users/me');
      ids[who] = `admin:${me.json.data.id}`;
    }
  });

  describe('in whose name a preview runs', () => {
    const names = ['anonymous', 'user:anna', 'group:editors', 'user:mona', 'self', 'another', 'super'] as const;
    const rows: [as: string, ...statuses: number[]][] = [
      ['anonymous', 401, 401, 401, 401, 401, 401, 401],
      ['olga', 403, 403, 403, 403, 403, 403, 403],
      ['overseer', 403, 403, 403, 403, 403, 403, 403],
      ['clerk', 403, 403, 403, 403, 403, 403, 403],
      ['auditor', 403, 403, 403, 403, 403, 403, 403],
      ['developer', 200, 403, 403, 403, 403, 403, 403],
      ['maker', 200, 200, 200, 403, 200, 403, 403],
      ['ada', 200, 200, 200, 200, 200, 403, 403],
      ['root', 200, 200, 200, 200, 403, 200, 403],
    ];
    test.each(rows)('%s', async (as, ...statuses) => {
      const found = [];
      for (const name of names) {
        const another = ids[as === 'developer' ? 'maker' : 'developer'];
        const who =
          name === 'self' ? (ids[as] ?? another) : name === 'another' ? another : name === 'super' ? ids.root : name;
        found.push((await preview(as, { who, files: { 'blocks/a.html': '{value}' } })).status);
      }
      expect(found).toEqual(statuses);
    });

    test('a refusal says why', async () => {
      const refusal = async (as: string, who = '') => (await preview(as, { who })).text;
      expect(await refusal('developer', 'user:anna')).toMatch(/\\"develop\\" alone .* anonymous visitor/);
      expect(await refusal('maker', 'user:mona')).toMatch(/takes the permission \\"manage\\"/);
      expect(await refusal('maker', ids.ada)).toMatch(/Only a super administrator runs/);
      expect(await refusal('root', ids.root)).toMatch(/as a super administrator/);
    });
  });

  describe('with `develop` alone', () => {
    const reading = (call: string) => ({
      'blocks/a.js': `export function value(context) { return ${call}; }`,
      'blocks/a.html': '<p>{value}</p>',
    });

    test.each(reads)('unsaved logic sees no record that visitors do not see: %s', async (call, shown) => {
      const files = reading(call);
      expect((await preview('developer', { files })).json.html).not.toContain(shown);
      expect((await preview('maker', { files })).json.html).toContain(shown);
    });

    test('records that visitors see are seen', async () => {
      await themes.write(`${app}/settings.yaml`, settings.replace('[editors]', '["*"]'));
      expect((await preview('developer', { files: reading(reads[0]?.[0] ?? '') })).json.html).toContain(word);
      await themes.write(`${app}/settings.yaml`, settings);
    });

    test('unsaved settings open nothing', async () => {
      const files = { ...reading(reads[0]?.[0] ?? ''), 'settings.yaml': settings.replace('[editors]', '["*"]') };
      const refused = await preview('developer', { files });
      expect([refused.status, refused.text]).toEqual([403, expect.stringMatching(/Unsaved settings.yaml/)]);
      expect((await preview('maker', { files })).status).toBe(200);
    });

    test('log and input of a run are hidden', async () => {
      const { id } = await failed('eric', 'POST vault/blocks/a', { 'action.send': 'Send', note: 'entered' });
      const own = (await ask<RunDetail>('developer', `GET /apps/runs/${id}`)).json;
      expect(own).toMatchObject({ logs: [], input: null, isHidden: true, state: 'failed' });
      const other = (await ask<RunDetail>('maker', `GET /apps/runs/${id}`)).json;
      expect(other).toMatchObject({ input: { form: { note: 'entered' } } });
      expect(other.isHidden).toBeUndefined();
    });
  });

  describe('in whose name a run runs again', () => {
    test('that of its requester; with `develop` alone that of a visitor, who sees what visitors see', async () => {
      const run = await failed('eric', 'GET vault/blocks/a?bad=1');
      expect((await again('maker', run)).json).toMatchObject({
        requester: { name: 'eric' },
        runs: [{ logs: [{ message: `for eric: ${word}` }] }],
      });
      const { json, text } = await again('developer', run);
      expect(json.requester).toEqual({ identity: '', name: null });
      expect(text).not.toContain(word);
      expect(json.answer).toMatch(/Records of the app &quot;vault&quot; are hidden/);
    });

    test.each<[as: string, by: string, status: number]>([
      ['developer', 'sent', 403],
      ['maker', 'sent', 200],
      ['maker', 'mona', 403],
      ['ada', 'mona', 200],
      ['maker', 'ada', 403],
      ['ada', 'ada', 200],
      ['ada', 'root', 403],
      ['root', 'ada', 200],
      ['root', 'root', 403],
      ['clerk', 'eric', 403],
      ['auditor', 'eric', 403],
    ])('%s runs one of %s again: %i', async (as, by, status) => {
      const sent = { 'action.send': 'Send' };
      const run =
        by === 'sent'
          ? await failed('eric', 'POST vault/blocks/a', sent)
          : await failed(by, 'GET vault/blocks/a?bad=1');
      const answer = await again(as, run);
      expect(answer.status, answer.text).toBe(status);
    });
  });

  describe('the audit log', () => {
    test('names who, what, in whose name, and how it ended; also what was refused', async () => {
      const files = { 'lib/shown.js': '' };
      await preview('maker', { who: 'user:eric', files });
      await preview('developer', { who: 'user:anna', files: { 'lib/refused.js': '' } });
      const run = await failed('eric', 'GET vault/blocks/a?bad=1');
      await again('maker', run);
      await ask('ada', 'POST /apps/sites/site/hand-over', {});
      const [login, repeated, refused, shown] = await audit();
      const maker = { identity: ids.maker, name: 'maker@example.com' };
      const about = { site: 'site', app: 'vault', block: 'a' };
      expect(shown).toMatchObject({
        administrator: maker,
        action: 'preview',
        ...about,
        requester: 'user:eric',
        unsaved: ['lib/shown.js'],
        status: 200,
        times: 1,
      });
      expect(refused).toMatchObject({
        administrator: { name: 'developer@example.com' },
        requester: 'user:anna',
        status: 403,
      });
      expect(repeated).toMatchObject({ administrator: maker, action: 'run-again', ...about, requester: 'user:eric' });
      expect(login).toMatchObject({
        action: 'log-in',
        site: 'site',
        app: null,
        requester: 'admin:ada@example.com',
        status: 201,
      });
    });

    test('equal previews are one entry; saved text as a visitor is none', async () => {
      const files = { 'lib/again.js': '' };
      for (let n = 0; n < 3; n += 1) await preview('maker', { who: 'group:editors', files });
      const [entry, before] = await audit();
      expect(entry).toMatchObject({ requester: 'group:editors', times: 3, status: 200 });
      expect(before?.requester).not.toBe('group:editors');
      await preview('developer', {});
      expect((await audit())[0]).toEqual(entry);
    });

    test('has an entry before its logic runs', async () => {
      const files = { 'blocks/a.js': 'export function value() { for (;;); }', 'lib/endless.js': '' };
      const shown = preview('maker', { who: 'user:anna', files });
      await expect.poll(async () => (await audit())[0]).toMatchObject({ requester: 'user:anna', status: null });
      await shown;
      expect((await audit())[0]?.status).not.toBeNull();
    });

    test('is filtered, and read in pages', async () => {
      const all = (query: string) => audit(query);
      expect((await all('app=vault&action=run-again')).every(({ action }) => action === 'run-again')).toBe(true);
      expect(
        (await all(`administrator=${ids.developer}`)).every(
          ({ administrator }) => administrator.identity === ids.developer,
        ),
      ).toBe(true);
      expect(await all('app=none')).toEqual([]);
      expect((await ask('auditor', 'GET /apps/audit?action=odd')).status).toBe(400);
      const [first, second] = await audit();
      expect((await all(`before=${first?.id}`))[0]).toEqual(second);
    });

    test('cannot be changed or removed by administrators', async () => {
      const [entry] = await audit();
      const uid = 'plugin::apps.audit-entry';
      for (const [method, path] of [
        ['GET', `/content-manager/collection-types/${uid}`],
        ['DELETE', `/content-manager/collection-types/${uid}/${entry?.id}`],
        ['DELETE', '/apps/audit'],
      ] as const)
        expect([path, (await ask('root', `${method} ${path}`)).status]).toEqual([
          path,
          path === '/apps/audit' ? 405 : 404,
        ]);
      expect((await audit())[0]).toEqual(entry);
    });

    test('is bounded in time and number, and one administrator cannot fill it', async () => {
      const fill = (count: number, administrator: string, daysAgo: number) =>
        stage.host.run(
          async (strapi, count, administrator, daysAgo) => {
            const at = Date.now() - daysAgo * 86_400_000;
            const row = { administrator, action: 'preview', requester: 'user:x', times: 1, firstAt: at, lastAt: at };
            const rows = strapi.db.query('plugin::apps.audit-entry');
            for (let made = 0; made < count; made += 100)
              await rows.createMany({ data: Array.from({ length: Math.min(100, count - made) }, () => row) });
          },
          ...([count, administrator, daysAgo] as const),
        );
      const stored = () =>
        stage.host.run(async (strapi) => {
          const rows = strapi.db.query('plugin::apps.audit-entry');
          const old = await rows.count({ where: { firstAt: { $lt: Date.now() - 91 * 86_400_000 } } });
          return { old, all: await rows.count() };
        });
      await fill(3, 'admin:old', 92);
      expect((await audit()).some(({ administrator }) => administrator.identity === 'admin:old')).toBe(false);
      await fill(10_050, 'admin:many', 5);
      await preview('maker', { who: 'user:eric', files: { 'lib/more.js': '' } });
      expect(await stored()).toEqual({ old: 0, all: 10_000 });
      await fill(500, ids.maker ?? '', 0);
      const refused = await preview('maker', { who: 'user:eric', files: { 'lib/too-many.js': '' } });
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3600']);
      expect((await preview('ada', { who: 'user:eric' })).status).toBe(200);
    });
  });
}
