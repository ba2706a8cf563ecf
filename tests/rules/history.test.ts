import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HistoryList, UndoPlan } from '../../plugins/apps/shared/admin-api';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { grantArticles } from '../support/seed';
import type { RowRequest } from '../support/stage';

const logic = `
export function validate(context) {
  if (context.request.form.title === 'bad') context.invalid('title', 'not this title');
}
export function shout(context) { return String(context.record.get('title')).toUpperCase(); }
export function on_save(context) {
  const beside = context.app.get_record('beside');
  if (beside) beside.save({ seen: context.record.id });
}
export function later(context) { context.jobs.add('note/make', { id: 'by-job' }); }
export function make(context) { context.app.create_record(context.params.id ?? 'by-rule').save({ title: 'made' }); }
export function fails(context) { context.app.create_record('never').save({}); throw new Error('no'); }
export function twice(context) {
  const record = context.app.create_record('twice');
  record.save({ n: 1 });
  record.save({ n: 2 });
  context.app.create_record('gone');
  context.app.delete_record('gone');
}`;

/** What an administrator sees of the history of the app. */
const panel = '/apps/sites/site/apps/log/history';

interface Version {
  version: number;
  at: string;
  by: string | null;
  through: string;
  items: Record<string, unknown> | null;
}

describe.each(await availableClients())('history on %s', (client) => {
  const acl = "acl: { rights: { editor: [editors], author: [authors], submitter: ['*'] } }\n";
  const themes = useThemes(async (copy) => {
    await copy.write('main/apps/log/settings.yaml', `history: true\nhistory_days: 2\n${acl}`);
    await copy.write('main/apps/plain/settings.yaml', acl);
    await copy.write(
      'main/apps/shut/settings.yaml',
      'history: true\njson: { editor: none }\nacl: { rights: { author: [editors], editor: [editors] } }\n',
    );
    for (const app of ['log', 'plain']) {
      await copy.write(
        `main/apps/${app}/blocks/note.yaml`,
        'elements: { title: { type: TEXT, required: true }, n: NUMBER, shout: { type: BASIC, mode: COMPUTED_ON_SAVE }, later: ACTION, make: BASIC, fails: ACTION, twice: ACTION }\n',
      );
      await copy.write(`main/apps/${app}/blocks/note.html`, '{title} {n} {shout} {_save}');
      await copy.write(`main/apps/${app}/blocks/note.js`, logic);
    }
    await copy.write('main/apps/log/blocks/seat.yaml', 'limit: 1\nelements: { title: TEXT }\n');
    await copy.write('main/apps/log/blocks/sole.yaml', 'elements: { title: { type: TEXT, unique: true } }\n');
  });
  const database = useDatabase(client);
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: database().address.env }));
  const identities: Record<string, string | null> = { anonymous: null };

  beforeAll(async () => {
    await grantArticles(stage.host, 'editors', ['create']);
    for (const who of ['eric', 'anna', 'mona']) {
      const { id } = await stage.user(who);
      identities[who] = await stage.host.run(async (strapi, id) => {
        const user = await strapi.db.query('plugin::users-permissions.user').findOne({ where: { id } });
        return `user:${user.documentId}`;
      }, id);
    }
  });
  beforeEach(async () => {
    for (const app of ['log', 'plain']) await stage.send({ as: 'mona', send: `DELETE ${app}/records` });
    await stage.host.run((strapi) => strapi.db.query('plugin::apps.history').deleteMany({ where: {} }));
  });

  const ask = async <T = unknown>(send: string, json?: unknown, as = 'eric', more: Partial<RowRequest> = {}) => {
    const answer = await stage.send<T>({ send, as, ...(json === undefined ? {} : { json }), ...more });
    return { status: answer.status, json: answer.json, text: answer.text, headers: answer.headers };
  };
  const versions = async (id: string, as = 'eric') =>
    (await ask<Version[]>(`GET log/history/${encodeURIComponent(id)}`, undefined, as)).json;
  const now = async () => {
    const time = new Date(Date.now()).toISOString();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return time;
  };
  /** Undoes what a requester has done since a time. */
  const undo = async (who: string, since: string) => {
    const requester = identities[who] as string;
    const query = new URLSearchParams({ requester, since });
    const plan = await ask<UndoPlan>(`GET ${panel}/undo?${query}`, undefined, 'clerk');
    expect(plan.status, plan.text).toBe(200);
    const body = { requester, since, version: plan.json.version };
    return { records: plan.json.records, done: await ask(`POST ${panel}/undo`, body, 'clerk') };
  };
  const shown = (list: readonly Version[]) =>
    list.map(({ by, through, items }) => [
      Object.entries(identities).find(([, one]) => one === by)?.[0] ?? by,
      through,
      items && Object.fromEntries(Object.entries(items).filter(([name]) => !['id', 'block', 'shout'].includes(name))),
    ]);

  test('each change is a version: who, when, through what, and the items after it, newest first', async () => {
    const before = Date.now();
    await ask('PUT log/record/r', { block: 'note', title: 'One' }, 'anonymous');
    await ask('PATCH log/record/r', { title: 'Two', $inc: { n: 2 } });
    await ask('PATCH log/record/r', { title: 'Two' });
    await ask('DELETE log/record/r', undefined, 'mona');
    const list = await versions('r');
    expect(shown(list)).toEqual([
      ['mona', 'json', null],
      ['eric', 'json', { title: 'Two', n: 2 }],
      ['anonymous', 'json', { title: 'One' }],
    ]);
    expect(list[1]?.items).toMatchObject({ id: 'r', block: 'note', shout: 'TWO' });
    for (const { at } of list) expect(Date.parse(at)).toBeGreaterThanOrEqual(before - 1);
    expect(list.map(({ version }) => version)).toEqual(list.map(({ version }) => version).sort((a, b) => b - a));
    expect(new Set(list.map(({ version }) => version)).size).toBe(3);
  });

  test('through what: forms, JSON, panel, logic, jobs, rules, imports', async () => {
    await ask('PUT log/record/beside', {});
    await ask('POST log/blocks/note', undefined, 'anna', { form: { title: 'form', _save: '1' }, accept: 'text/html' });
    await ask('POST log/blocks/note', { title: 'json', _save: '1' }, 'anna');
    await ask('POST log/records', [{ block: 'note', title: 'bulk' }, { title: 'bulk' }]);
    await ask('POST log/records', [{ title: 'plain bulk' }]);
    await ask('POST /apps/sites/site/apps/log/record', { items: { title: 'panel', block: 'note' } }, 'clerk');
    await ask('POST log/blocks/note/twice', {});
    await ask('POST log/blocks/note/later', {});
    await ask('POST log/blocks/note/fails', {});
    await ask(
      'POST /apps/rules',
      {
        name: 'made',
        enabled: true,
        event: 'create',
        contentType: 'api::article.article',
        app: 'log',
        block: 'note',
        function: 'make',
      },
      'ada',
    );
    await ask('POST /api/articles', { data: { title: 'A', slug: `a-${client}` } });
    await stage.host.run(async (strapi) => {
      const records = strapi.plugin('apps').service('records');
      await records.create('site', 'log', [{ items: { title: 'import' }, creator: null }], false);
      await strapi
        .plugin('apps')
        .service('apps')
        .call('log/note/make', { params: { id: 'by-code' } });
    });
    const all = async () => (await ask<HistoryList>(`GET ${panel}`, undefined, 'clerk')).json.changes;
    await expect
      .poll(async () => (await all()).map(({ id }) => id))
      .toEqual(expect.arrayContaining(['by-job', 'by-rule']));
    const changes = (await all()).map(({ id, event, through, by, items }) => {
      const named = items.find(({ name }) => name === 'title')?.after ?? id;
      return `${named}: ${event} through ${through} by ${by === null ? 'nobody' : by.name}`;
    });
    expect(changes.sort()).toEqual(
      [
        'beside: create through json by eric',
        'form: create through form by anna',
        'json: create through json by anna',
        ...Array.from({ length: 2 }, () => 'bulk: create through json by eric'),
        'plain bulk: create through json by eric',
        'panel: create through panel by clerk@example.com',
        'twice: create through logic by eric',
        'made: create through job by eric',
        'made: create through rule by eric',
        'made: create through logic by nobody',
        'import: create through import by nobody',
        // `on_save` of the four records of the block, and of those that were made with it.
        'beside: update through logic by anna',
        'beside: update through logic by anna',
        'beside: update through logic by eric',
        'beside: update through logic by clerk@example.com',
      ].sort(),
    );
  });

  test('what is rolled back has no version, and an app without the key has none', async () => {
    await ask('POST log/blocks/note/fails', {});
    await ask('PUT plain/record/r', { title: 'x' });
    expect(await ask('GET log/history/never')).toMatchObject({ status: 404 });
    expect(await ask('GET plain/history/r')).toMatchObject({
      status: 404,
      text: expect.stringContaining('keeps no history'),
    });
    const rows = await stage.host.run((strapi) => strapi.db.query('plugin::apps.history').count());
    expect(rows).toBe(0);
  });

  test('many records at once, and changes at the same time, each have their version', async () => {
    const many = Array.from({ length: 1_500 }, (_, at) => ({ id: `m${at}`, n: at }));
    expect(await ask('POST log/records', many)).toMatchObject({ status: 201 });
    await Promise.all(Array.from({ length: 30 }, () => ask('PATCH log/record/m7', { $inc: { n: 1 } })));
    const list = await versions('m7');
    expect(list.map(({ items }) => items?.n)).toEqual(Array.from({ length: 31 }, (_, at) => 37 - at));
    expect(await stage.host.run((strapi) => strapi.db.query('plugin::apps.history').count())).toBe(1_530);
    await ask('DELETE log/records', undefined, 'mona');
    expect(shown(await versions('m8'))).toEqual([
      ['mona', 'json', null],
      ['eric', 'json', { n: 8 }],
    ]);
    const [deletion] = await versions('m8');
    expect(await ask('POST log/history/m8', { version: deletion?.version })).toMatchObject({ status: 201 });
    expect(await stage.items('log', 'm8')).toEqual({ id: 'm8', n: 8 });
  }, 60_000);

  test('pages of versions, and ids with slashes', async () => {
    await ask('PUT log/record/a%2Fb', { n: 0 });
    for (const n of [1, 2, 3]) await ask('PATCH log/record/a%2Fb', { n });
    const first = await ask<Version[]>('GET log/history/a/b?limit=3');
    expect(first.json.map(({ items }) => items?.n)).toEqual([3, 2, 1]);
    const next = /<https?:\/\/[^/]+(\/[^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1];
    const second = await ask<Version[]>(`GET ${next}`);
    expect(second.json.map(({ items }) => items?.n)).toEqual([0]);
    expect(second.headers.link).toBeUndefined();
    expect(await ask('GET log/history/a/b?before=3000000000')).toMatchObject({ status: 200 });
    expect(await ask('POST log/history/a/b', { version: 3_000_000_000 })).toMatchObject({ status: 404 });
    for (const bad of ['limit=0', 'limit=101', 'before=x', 'other=1'])
      expect(await ask(`GET log/history/a/b?${bad}`), bad).toMatchObject({ status: 400 });
  });

  test.each([
    ['anonymous', 401],
    ['rita', 403],
    ['anna', 403],
    ['sam', 403],
    ['eric', 200],
    ['mona', 200],
  ])('%s gets %i: the history is for those who may change all records', async (as, status) => {
    await ask('PUT log/record/own', { title: 'x' }, 'anna');
    const [version] = await versions('own');
    expect(await ask('GET log/history/own', undefined, as)).toMatchObject({ status });
    expect(await ask('POST log/history/own', { version: version?.version }, as)).toMatchObject({ status });
  });

  test('a version is restored by the rules of its block; the restore is a change itself', async () => {
    await ask('PUT log/record/r', { block: 'note', title: 'One', extra: [1] }, 'anna');
    await ask('PATCH log/record/r', { title: 'Two', n: 5 });
    const [, first] = await versions('r');
    expect(await ask('POST log/history/r', { version: first?.version }, 'eric', { csrf: false })).toMatchObject({
      status: 200,
    });
    expect(await stage.items('log', 'r')).toEqual({ id: 'r', block: 'note', title: 'One', extra: [1], shout: 'ONE' });
    expect(shown(await versions('r'))[0]).toEqual(['eric', 'json', { title: 'One', extra: [1] }]);
    for (const [json, status] of [
      [{ version: 1e9 }, 404],
      [{ version: 'x' }, 400],
      [{}, 400],
      [{ version: first?.version, more: 1 }, 400],
    ] as const)
      expect(await ask('POST log/history/r', json)).toMatchObject({ status });
    await ask('PUT log/record/other', { title: 'x' });
    const [other] = await versions('other');
    expect(await ask('POST log/history/r', { version: other?.version })).toMatchObject({ status: 404 });
    // A rule that has come since holds for a restore too.
    await themes.write('main/apps/log/blocks/note.js', logic.replace("'bad'", "'Two'"));
    const second = (await versions('r')).find(({ items }) => items?.title === 'Two');
    await expect
      .poll(() => ask('POST log/history/r', { version: second?.version }))
      .toMatchObject({ status: 422, json: { error: { details: { errors: [{ path: ['title'] }] } } } });
    await themes.write('main/apps/log/blocks/note.js', logic);
  });

  test('a deleted record comes back with its id and its creator', async () => {
    await ask('PUT log/record/r', { block: 'note', title: 'One' }, 'anna');
    await ask('DELETE log/record/r');
    const [, first] = await versions('r');
    expect(await ask('POST log/history/r', { version: first?.version })).toMatchObject({
      status: 201,
      json: { id: 'r', success: 'created' },
    });
    // An author may change what they have made.
    expect(await ask('PATCH log/record/r', { title: 'Mine' }, 'anna')).toMatchObject({ status: 200 });
  });

  test('versions are closed where the JSON interface is, for those who may change all records', async () => {
    expect(await ask('PUT shut/record/own', { n: 1 })).toMatchObject({ status: 201 });
    expect(await ask('GET shut/history/own')).toMatchObject({ status: 403 });
    const refused = await ask('POST shut/history/own', { version: 1 });
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('The JSON interface cannot be used for this'),
    ]);
  });

  test('a cookie needs its CSRF token to restore', async () => {
    await ask('PUT log/record/r', { title: 'One' });
    const [first] = await versions('r');
    const anonymous = await ask('POST log/history/r', { version: first?.version }, 'anonymous', { csrf: false });
    expect(anonymous).toMatchObject({ status: 403, json: { error: { name: 'CsrfError' } } });
  });

  test('all that one requester did since a time is undone; what others built on it stays and is named', async () => {
    await ask('PUT log/record/kept', { title: 'before', n: 1 }, 'mona');
    await ask('PUT log/record/lost', { title: 'lost' }, 'mona');
    await ask('PUT log/record/both', { title: 'before', n: 1 }, 'mona');
    const since = new Date(Date.now()).toISOString();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await ask('PATCH log/record/kept', { title: 'spoilt', added: 1 });
    await ask('PATCH log/record/kept', { n: 9 });
    await ask('DELETE log/record/lost');
    await ask('PUT log/record/fresh', { title: 'fresh' });
    await ask('PUT log/record/used', { title: 'used' });
    await ask('PATCH log/record/used', { n: 4 }, 'mona');
    await ask('PATCH log/record/both', { title: 'spoilt', n: 2 });
    await ask('PATCH log/record/both', { n: 3 }, 'mona');
    const requester = identities.eric as string;
    const query = new URLSearchParams({ requester, since });
    const plan = await ask<UndoPlan>(`GET ${panel}/undo?${query}`, undefined, 'clerk');
    expect(plan.status, plan.text).toBe(200);
    expect(Object.fromEntries(plan.json.records.map(({ id, ...one }) => [id, one]))).toMatchObject({
      kept: { does: 'changed', items: ['title', 'added', 'n'], later: [] },
      lost: { does: 'created', later: [] },
      fresh: { does: 'deleted', later: [] },
      used: { does: 'kept', later: [{ by: { name: 'mona' }, through: 'json', items: ['n'] }] },
      both: { does: 'changed', items: ['title'], later: [{ by: { name: 'mona' }, items: ['n'] }] },
    });
    expect(await stage.items('log', 'kept')).toMatchObject({ title: 'spoilt' });
    const undo = { requester, since, version: plan.json.version };
    await ask('PATCH log/record/kept', { n: 10 });
    expect(await ask(`POST ${panel}/undo`, undo, 'clerk')).toMatchObject({ status: 409 });
    const again = await ask<UndoPlan>(`GET ${panel}/undo?${query}`, undefined, 'clerk');
    expect(await ask(`POST ${panel}/undo`, { ...undo, version: again.json.version }, 'clerk')).toMatchObject({
      status: 200,
    });
    const items = (id: string) => stage.items('log', id);
    expect(await items('kept')).toEqual({ id: 'kept', title: 'before', n: 1 });
    expect(await items('lost')).toEqual({ id: 'lost', title: 'lost' });
    expect(await items('fresh')).toBeNull();
    expect(await items('used')).toMatchObject({ title: 'used', n: 4 });
    expect(await items('both')).toEqual({ id: 'both', title: 'before', n: 3 });
    expect(shown(await versions('kept'))[0]?.[1]).toBe('panel');
    expect(await ask(`GET ${panel}`, undefined, 'developer')).toMatchObject({ status: 403 });
  });

  test.each(['seat', 'sole'])(
    'what was taken of the places of "%s" is given back before it is taken again',
    async (block) => {
      await ask('PUT log/record/first', { block, title: 'same' }, 'anna');
      const since = await now();
      await ask('DELETE log/record/first');
      expect(await ask('PUT log/record/second', { block, title: 'same' })).toMatchObject({ status: 201 });
      expect((await undo('eric', since)).done).toMatchObject({ status: 200 });
      expect(await stage.items('log', 'first')).toMatchObject({ block, title: 'same' });
      expect(await stage.items('log', 'second')).toBeNull();
    },
  );

  test('a unique value goes back to the record that had it', async () => {
    await ask('PUT log/record/first', { block: 'sole', title: 'same' }, 'anna');
    const since = await now();
    await ask('PATCH log/record/first', { title: 'other' });
    expect(await ask('PUT log/record/second', { block: 'sole', title: 'same' })).toMatchObject({ status: 201 });
    await ask('PATCH log/record/second', { extra: 1 });
    expect((await undo('eric', since)).done).toMatchObject({ status: 200 });
    expect(await stage.items('log', 'first')).toMatchObject({ title: 'same' });
    expect(await stage.items('log', 'second')).toBeNull();
  });

  test('a record that another one has made again under the same id stays', async () => {
    await ask('PUT log/record/hall', { title: 'old' }, 'anna');
    const since = await now();
    await ask('PATCH log/record/hall', { title: 'changed' });
    await ask('DELETE log/record/hall', undefined);
    await ask('PUT log/record/hall', { title: 'new' }, 'anna');
    const { records, done } = await undo('eric', since);
    expect(records).toMatchObject([{ id: 'hall', does: 'kept', items: [], later: [{ by: { name: 'anna' } }] }]);
    expect(done).toMatchObject({ status: 200 });
    expect(await stage.items('log', 'hall')).toEqual({ id: 'hall', title: 'new' });
    // What is changed of the new one is undone.
    await ask('PATCH log/record/hall', { title: 'changed' });
    expect((await undo('eric', since)).records).toMatchObject([{ does: 'changed', items: ['title'] }]);
    expect(await stage.items('log', 'hall')).toEqual({ id: 'hall', title: 'new' });
  });

  test('versions are deleted after the days of the app, with old jobs', async () => {
    await ask('PUT log/record/r', { title: 'One' });
    await ask('PATCH log/record/r', { title: 'Two' });
    const prune = (kept: number | null) =>
      stage.host.run(
        (strapi, kept) =>
          strapi
            .plugin('apps')
            .service('records')
            .history()
            .prune(async () => kept),
        kept,
      );
    await stage.host.run(async (strapi) => {
      const [first] = await strapi.db.query('plugin::apps.history').findMany({ orderBy: { id: 'asc' } });
      const at = Date.now() - 2 * 86_400_000 - 1_000;
      await strapi.db.query('plugin::apps.history').update({ where: { id: first.id }, data: { at } });
    });
    await prune(null);
    expect(await versions('r')).toHaveLength(2);
    await prune(2);
    expect(shown(await versions('r'))).toEqual([['eric', 'json', { title: 'Two' }]]);
  });
});
