import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import type {
  AuditPage,
  ErasedPerson,
  FoundPerson,
  JobDetail,
  RunDetail,
  RunsPage,
  ScheduleSummary,
} from '../../plugins/apps/shared/admin-api';
import { formBody, pdf, sendBody } from '../forms/files/send';
import { runReused } from '../support/command-line';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useFolder, useStage, useThemes, useTwin } from '../support/hooks';
import { send } from '../support/send';
import { html } from '../support/stage';
import { hostEnvironment } from '../support/temporary-host';
import { repository } from '../support/theme';
import { personApps } from './persons/apps';

const anna = 'anna@example.com';
const DAY = 24 * 60 * 60_000;

/** The files of a ZIP by their paths. */
async function unpacked(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true });
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    const stream = await zip.openReadStreamPromise(entry);
    files.set(entry.fileName, Buffer.concat(await stream.toArray()));
  }
  return files;
}

describe.each(await availableClients())('persons on %s', (client) => {
  const folder = useFolder('persons');
  const themes = useThemes(personApps);
  const database = useDatabase(client);
  const kept = () => folder(`kept-${client}`);
  const apps = (more: object = {}) => ({
    filesDirectory: kept(),
    temporaryDirectory: folder(`held-${client}`),
    ...more,
  });
  const options = () => ({
    themesDirectory: themes.directory,
    env: { ...database().address.env, ...configured({ apps: apps({ runs: { store: 1_000 } }) }) },
  });
  const stage = useStage(options);

  const exported = (who: string) => ({
    send: 'GET /apps/persons/export',
    headers: { 'x-apps-person': encodeURIComponent(who) },
  });
  const ask = async <T>(send: string, who: string, as = 'guardian') =>
    stage.send<T>({
      as,
      ...(send === 'export' ? exported(who) : { send: `POST /apps/persons/${send}`, json: { who } }),
    });
  const find = async (who: string) => (await ask<FoundPerson>('find', who)).json;
  const counts = (found: Pick<FoundPerson, 'groups'>) =>
    Object.fromEntries(found.groups.map(({ kind, app, does, count }) => [`${kind} ${app} ${does}`, count]));
  const erase = async (who: string) => (await ask<ErasedPerson>('erase', who)).json;
  const form = (app: string, block: string, fields: Record<string, string>, as = 'anonymous') =>
    stage.send({ as, send: `POST ${app}/blocks/${block}`, form: { ...fields, _save: '1' }, accept: html });
  const upload = async (target: string, fields: Record<string, string>, file: string) => {
    const values = Object.entries(fields).map(([name, content]) => ({ name, content }));
    const doc = { name: target.endsWith('card') ? 'cv' : 'doc', file, type: 'application/pdf', content: pdf };
    const { status, text } = await sendBody(stage, formBody([...values, doc, { name: '_save', content: '1' }]), target);
    expect(status, text).toBeLessThan(400);
  };

  /** Rows of the plugin's tables with a text, by their table. */
  const tablesWith = (text: string) =>
    stage.host.run(async (strapi, text) => {
      const knex = strapi.db.connection;
      const { client } = strapi.db.dialect;
      const names: string[] = await (client === 'sqlite'
        ? knex
            .raw("select name from sqlite_master where type = 'table'")
            .then((rows: { name: string }[]) => rows.map(({ name }) => name))
        : knex('information_schema.tables')
            .whereRaw(client === 'postgres' ? 'table_schema = current_schema()' : 'table_schema = database()')
            .select({ name: 'table_name' })
            .then((rows: { name: string }[]) => rows.map(({ name }) => name)));
      // Not as the end of a longer address.
      const searched = new RegExp(`(?<![a-z])${text.replaceAll('.', '\\.')}`, 'i');
      const found: Record<string, number> = {};
      for (const name of names.filter((one) => one.startsWith('apps_'))) {
        // The tables of an index go when others have replaced them.
        const rows: object[] = await knex(name)
          .select()
          .catch(async (error: unknown) => {
            if (await knex.schema.hasTable(name)) throw error;
            return [];
          });
        const has = rows.filter((row) => {
          const values = Object.values(row).map((value) =>
            Buffer.isBuffer(value) ? value.toString('utf8') : JSON.stringify(value),
          );
          return values.some((value) => value !== undefined && searched.test(value));
        });
        if (has.length > 0) found[name] = has.length;
      }
      return found;
    }, text);
  /** Changes for open pages, with items of records, are kept for a minute. */
  const withoutChanges = async (text: string) => {
    const { apps_changes: _changes, ...others } = await tablesWith(text);
    return others;
  };

  beforeAll(async () => {
    await stage.user('anna');
    await upload('cards/blocks/card', { name: '<b>Anna</b>', email: 'Anna@Example.com ' }, 'anna@example.com.pdf');
    await form('cards', 'card', { name: 'later', email: anna });
    await form('cards', 'card', { name: 'Ben', email: 'ben@example.com' });
    await form('cards', 'card', { name: 'Joanna', email: 'joanna@example.com' });
    await form('rooms', 'booking', { name: 'Anna', email: anna, nights: '2' });
    await form('rooms', 'booking', { name: 'Ben', email: 'ben@example.com', nights: '1' });
    await form('rooms', 'booking', { name: 'Cleo', email: 'cleo@example.com', nights: '3' });
    await stage.put('rooms', 'by-anna', { block: 'booking', name: 'own', nights: 1 }, 'anna');
    await stage.put('cards', 'of-anna', { title: 'without a block' }, 'anna');
    await stage.put('rooms', 'team', {
      block: 'team',
      title: 'Team',
      members: [
        { who: 'A', email: anna },
        { who: 'B', email: 'ben@example.com' },
      ],
    });
    await stage.put('cards', 'gone', { block: 'card', name: 'gone', email: 'ANNA@example.com' });
    await stage.host.run((strapi) =>
      strapi
        .plugin('apps')
        .service('records')
        .store()
        .transact((unit: { delete(key: object, id: string): Promise<boolean> }) =>
          unit.delete({ site: 'site', app: 'cards' }, 'gone'),
        ),
    );
    await stage.send({ as: 'anna', send: 'PATCH rooms/record/team', json: { title: 'Others' } });
    await stage.send({ send: 'POST cards/blocks/broken', form: { email: anna, 'action.fails': '1' }, accept: html });
  });

  test('everything of an address and of its user is found over all apps, and nothing else', async () => {
    const found = await find(' ANNA@example.com');
    expect(found).toMatchObject({ address: anna, user: { name: 'anna', identity: expect.stringMatching(/^user:/) } });
    expect(counts(found)).toMatchObject({
      'records cards delete': 3,
      'records rooms anonymize': 2,
      'records rooms change': 1,
      'files cards delete': 1,
      'history cards delete': expect.any(Number),
      'history rooms delete': expect.any(Number),
      'mails cards delete': 2,
      'jobs cards delete': 1,
    });
    expect(found.entries.find(({ id }) => id === 'team')).toMatchObject({ does: 'change', items: ['members'] });
    expect(counts(await find('anna'))).toEqual(counts(found));
    const joanna = counts(await find('joanna@example.com'));
    expect(joanna).toMatchObject({ 'records cards delete': 1 });
    expect(joanna['records rooms anonymize']).toBeUndefined();
  });

  test.each([
    '%',
    '%@%',
    '_nna@example.com',
    "' or 1=1 --@example.com",
    'nobody@example.com',
    '*@example.com',
    'a"\\@example.com',
  ])('the hostile address %s finds nothing, or no one', async (who) => {
    const answer = await ask<FoundPerson>('find', who);
    if (who.includes('@')) expect([answer.status, answer.json.groups, answer.json.user]).toEqual([200, [], null]);
    else expect(answer.status).toBe(404);
    expect((await erase(who)).groups ?? []).toEqual([]);
  });

  test.each<[unknown, number]>([
    ['', 400],
    [5, 400],
    [null, 400],
    ['a\r\nSet-Cookie: x@y.example', 400],
    ['x'.repeat(1_000), 400],
    ['no such user', 404],
  ])('the person %j is refused', async (who, status) => {
    for (const send of ['find', 'erase'])
      expect((await stage.send({ as: 'guardian', send: `POST /apps/persons/${send}`, json: { who } })).status).toBe(
        status,
      );
    if (typeof who === 'string') expect((await ask('export', who)).status).toBe(status);
  });

  test('the permission is needed', async () => {
    for (const as of ['overseer', 'clerk', 'developer', 'foreman', 'auditor', 'watcher', 'olga'])
      for (const send of ['find', 'export', 'erase'])
        expect((await ask(send, anna, as)).status, `${as} ${send}`).toBe(403);
    for (const as of ['anonymous', 'anna', 'mona', 'fullToken']) expect((await ask('find', anna, as)).status).toBe(401);
    expect((await ask('find', anna, 'ada')).status).toBe(200);
  });

  test('an export has everything, as a page and as JSON, with the files; it is in the audit log without the address', async () => {
    const answer = await ask('export', anna);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="person.zip"',
      'cache-control': 'private, no-store',
    });
    const files = await unpacked(answer.bytes);
    const { person, entries } = JSON.parse(String(files.get('person.json')));
    expect(person).toMatchObject({ address: anna, user: { name: 'anna' } });
    const of = (kind: string, app: string) =>
      entries.filter((one: { kind: string; app: string }) => one.kind === kind && one.app === app);
    expect(of('records', 'rooms').map(({ data }: { data: { items: object } }) => data.items)).toMatchObject([
      { name: 'Anna', nights: 2 },
      { name: 'own' },
      { title: expect.any(String) },
    ]);
    expect(of('records', 'cards')).toHaveLength(3);
    expect(of('history', 'cards').some(({ id }: { id: string }) => id === 'gone')).toBe(true);
    const [[path = '', bytes] = []] = [...files].filter(([name]) => name.startsWith('files/'));
    expect(bytes?.equals(pdf)).toBe(true);
    expect(of('records', 'cards')[0].files).toEqual([path]);
    const page = String(files.get('index.html'));
    expect(page).toContain('&lt;b&gt;Anna&lt;/b&gt;');
    expect(page).not.toContain('<b>');
    expect(page).not.toContain('ben@example.com</td>');
    expect(page).toContain(`href="${path.split('/').map(encodeURIComponent).join('/')}"`);
    const { json } = await stage.send<AuditPage>({ as: 'auditor', send: 'GET /apps/audit?action=person-export' });
    expect(json.entries[0]).toMatchObject({ requester: expect.stringMatching(/^person:[\w-]{22}$/), status: 200 });
    expect(JSON.stringify(json)).not.toContain('anna');
  });

  test('runs and the log have no addresses of persons', async () => {
    const { json } = await stage.send<RunsPage>({ as: 'developer', send: 'GET /apps/runs?app=cards&state=failed' });
    const run = (await stage.send<RunDetail>({ as: 'maker', send: `GET /apps/runs/${json.runs[0]?.id}` })).json;
    expect(run.error?.message).toContain('cannot write to hidden@person.invalid');
    expect(run.input?.form).toMatchObject({ email: 'hidden@person.invalid' });
    expect(run.logs[0]?.message).toBe('sent by hidden@person.invalid');
    expect((await tablesWith(anna)).apps_runs).toBeUndefined();
    const printed = await stage.host.printed();
    expect(printed).toContain('made for hidden@person.invalid');
    expect(printed.toLowerCase()).not.toContain(anna);
  });

  test('two erasures at once erase everything once, and nothing of others; what was changed names no one', async () => {
    const before = await readdir(kept(), { recursive: true });
    expect(before.length).toBeGreaterThan(0);
    const both = await Promise.all([erase(anna), erase('anna')]);
    for (const { done, failed } of both) expect([done, failed]).toEqual([true, []]);
    const total = (kind: string) =>
      both
        .flatMap(({ groups }) => groups)
        .filter((one) => one.kind === kind)
        .reduce((sum, { count }) => sum + count, 0);
    expect(total('records')).toBe(6);
    expect((await find(anna)).groups).toEqual([]);
    expect(await withoutChanges(anna)).toEqual({});
    const { identity } = (await find(anna)).user ?? { identity: '' };
    expect(await withoutChanges(identity)).toEqual({});
    await expect.poll(async () => (await tablesWith(anna)).apps_files, { timeout: 20_000 }).toBeUndefined();
    await expect
      .poll(
        async () => (await readdir(kept(), { recursive: true, withFileTypes: true })).filter((one) => one.isFile()),
        { timeout: 20_000 },
      )
      .toEqual([]);

    expect(await stage.items('rooms', 'by-anna')).toMatchObject({ nights: 1 });
    expect(await stage.items('rooms', 'by-anna')).not.toHaveProperty('name');
    expect(await stage.items('rooms', 'team')).toMatchObject({ members: [{ who: 'B', email: 'ben@example.com' }] });
    expect(await stage.items('cards', 'of-anna')).toBeNull();
    expect(counts(await find('ben@example.com'))).toMatchObject({
      'records cards delete': 1,
      'records rooms anonymize': 1,
    });
    expect(counts(await find('joanna@example.com'))).toMatchObject({
      'records cards delete': 1,
      'mails cards delete': 1,
    });
    const { json } = await stage.send<AuditPage>({ as: 'auditor', send: 'GET /apps/audit?action=person-erase' });
    expect(json.entries.length).toBeGreaterThan(0);
  });

  test('a record that is changed while it is erased ends as one of both', async () => {
    await form('rooms', 'visit', { email: 'dora@example.com' });
    const [entry] = (await find('dora@example.com')).entries;
    const change = stage.send({
      as: 'eric',
      send: `PATCH rooms/record/${entry?.id}`,
      json: { email: 'other@example.com' },
    });
    const [changed] = await Promise.all([change, erase('dora@example.com')]);
    const left = await stage.items('rooms', entry?.id ?? '');
    if (left) expect([changed.status, left.email]).toEqual([200, 'other@example.com']);
    else expect([200, 404]).toContain(changed.status);
    await erase('dora@example.com');
    expect(await withoutChanges('dora@example.com')).toEqual({});
  });

  test('who moves up in place of an erased person has a version of that', async () => {
    for (const id of ['lena', 'mia']) await stage.put('rooms', id, { block: 'seat', email: `${id}@example.com` });
    expect(await stage.items('rooms', 'mia')).toMatchObject({ _state: 'waiting' });
    expect((await erase('lena@example.com')).failed).toEqual([]);
    const items = { id: 'mia', block: 'seat', email: 'mia@example.com' };
    expect(await stage.items('rooms', 'mia')).toEqual(items);
    const { json } = await stage.send({ as: 'mona', send: 'GET rooms/history/mia' });
    expect(json).toMatchObject([
      { by: null, through: 'job', items },
      { through: 'json', items: { ...items, _state: 'waiting' } },
    ]);
  });

  test('records that wait and that are confirmed, their mails, and a draft with its file are found, exported and erased', async () => {
    const kim = 'kim@example.com';
    const mailsOf = <T>(work: (rows: { text: string; calendar: string | null }[]) => T) =>
      stage.host
        .run(async (strapi, to) => strapi.db.connection('apps_mails').where({ recipients: to }).orderBy('id'), kim)
        .then(work);
    // A mail that could not be sent yet keeps its text and its calendar file.
    await stage.host.run((strapi) => {
      const email = strapi.plugin('email').service('email');
      Object.assign(globalThis, { sendMail: email.send });
      email.send = () => Promise.reject(new Error('later'));
    });
    const signUp = { email: kim, day: '2999-12-31' };
    for (let count = 0; count < 2; count += 1) expect((await form('cards', 'signup', signUp)).status).toBe(303);
    const token = await mailsOf(([mail]) => /confirm\/([\w-]{65})/.exec(mail?.text ?? '')?.[1]);
    expect((await stage.send({ send: `POST cards/confirm/${token}`, json: {} })).status).toBe(200);
    expect(await mailsOf((all) => all.map(({ calendar }) => calendar?.includes(kim) === true))).toEqual([
      false,
      false,
      true,
    ]);
    const draft = [
      { name: 'email', content: kim },
      { name: 'doc', file: 'draft.pdf', type: 'application/pdf', content: pdf },
      { name: '_draft', content: '1' },
    ];
    expect((await sendBody(stage, formBody(draft), 'cards/blocks/signup')).status).toBe(303);
    expect((await tablesWith(kim)).apps_drafts).toBe(1);

    expect(counts(await find(kim))).toMatchObject({
      'records cards delete': 2,
      'drafts cards delete': 1,
      'files cards delete': 1,
      'mails cards delete': 3,
    });
    const files = await unpacked((await ask('export', kim)).bytes);
    const { entries } = JSON.parse(String(files.get('person.json'))) as {
      entries: { kind: string; files: string[]; data: object }[];
    };
    const [stored] = entries.filter(({ kind }) => kind === 'drafts');
    expect(stored).toMatchObject({ data: { content: { fields: { email: [kim] } } }, files: [expect.any(String)] });
    expect(files.get(stored?.files[0] ?? '')?.equals(pdf)).toBe(true);
    expect(JSON.stringify(entries.filter(({ kind }) => kind === 'mails'))).toContain('BEGIN:VCALENDAR');
    expect(JSON.stringify(entries.filter(({ kind }) => kind === 'records'))).toContain('"_state":"unconfirmed"');

    expect((await erase(kim)).failed).toEqual([]);
    expect(await withoutChanges(kim)).toEqual({});
    expect(counts(await find(kim))).toEqual({});
    await expect
      .poll(async () => (await readdir(kept(), { recursive: true })).filter((name) => name.endsWith('.pdf')))
      .toEqual([]);
    await stage.host.run((strapi) => {
      strapi.plugin('email').service('email').send = Reflect.get(globalThis, 'sendMail');
    });
  });

  test.each(['una', 'abel'])(
    'a record that waits for its confirmation goes with the account that has made it: %s',
    async (name) => {
      await stage.user(name);
      const address = `${name}@example.com`;
      expect((await form('cards', 'course', { email: `${name}@other.example` }, name)).status).toBe(303);
      expect(await withoutChanges(address)).toEqual({ apps_records: 1 });
      // What the account is called by now.
      if (name === 'abel')
        await stage.host.run(
          (strapi, where) =>
            strapi.db.query('plugin::users-permissions.user').update({ where, data: { email: 'abel@new.example' } }),
          { email: address },
        );
      expect(await erase(address)).toMatchObject({ done: true, failed: [] });
      expect(await withoutChanges(address)).toEqual({});
      expect(await withoutChanges(`${name}@other.example`)).toEqual({ apps_mails: 1 });
    },
  );

  test('what cannot be erased is named, and keeps no other from it', async () => {
    await form('rooms', 'visit', { email: 'ida@example.com' });
    await form('cards', 'card', { name: 'Ida', email: 'ida@example.com' });
    const definition = 'main/apps/rooms/blocks/visit.yaml';
    const text = await readFile(path.join(themes.directory, definition), 'utf8');
    const shown = async () => (await stage.send({ as: 'mona', send: 'GET rooms/blocks/visit' })).status;
    await themes.write(definition, 'elements: { email: EMAYL }\n');
    await expect.poll(shown, { timeout: 20_000 }).toBe(500);
    expect((await erase('ida@example.com')).failed).toMatchObject([
      { kind: 'records', app: 'rooms', message: expect.stringContaining('EMAYL') },
    ]);
    expect(counts(await find('ida@example.com'))).toEqual({ 'records rooms delete': 1 });
    await themes.write(definition, text);
    await expect.poll(shown, { timeout: 20_000 }).toBe(200);
    expect((await erase('ida@example.com')).failed).toEqual([]);
    expect(await withoutChanges('ida@example.com')).toEqual({});
  });

  test('the command line shows, exports and erases the same', async () => {
    await upload('rooms/blocks/visit', { email: 'hans@example.com' }, 'hans.pdf');
    const env = { ...hostEnvironment, ...options().env, NODE_ENV: 'test', APPS_THEMES_DIRECTORY: themes.directory };
    const run = (...args: string[]) => runReused(['person', ...args], { cwd: repository, env });
    expect(await run('erase', 'nobody')).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no such user'),
    });
    expect(await run('erase', 'nobody@example.com')).toMatchObject({ code: 0, out: 'Nothing is stored\n' });
    const shown = await run('erase', 'Hans@example.com');
    expect(shown).toMatchObject({ code: 0, err: expect.stringContaining('with --yes') });
    expect(shown.out).toMatch(
      /^site\/rooms: 1 records, deleted\nsite\/rooms: 1 files, deleted\nsite\/rooms: 1 history, deleted\n$/,
    );
    const out = folder(`hans-${client}.zip`);
    expect(await run('export', 'hans@example.com', '--out', out)).toMatchObject({
      code: 0,
      out: `2 entries exported to ${out}\n`,
    });
    const files = await unpacked(await readFile(out));
    expect([...files.keys()]).toEqual(['person.json', 'index.html', expect.stringMatching(/^files\/\w+\/hans\.pdf$/)]);
    const erased = JSON.parse((await run('erase', 'hans@example.com', '--yes', '--json')).out);
    expect(erased).toMatchObject({ erased: true, failed: [] });
    expect(await withoutChanges('hans@example.com')).toEqual({});
    const { json } = await stage.send<AuditPage>({ as: 'auditor', send: 'GET /apps/audit?administrator=operator' });
    expect(json.entries.map(({ action }) => action)).toEqual(['person-erase', 'person-export']);
  });

  describe('keep', () => {
    const twin = useTwin(stage, () => ({
      themesDirectory: themes.directory,
      env: {
        ...database().address.env,
        ...configured({ apps: apps({ runs: { persons: true } }), clockAhead: 40 * DAY }),
      },
    }));

    test('removes what is older, or the items that the definition names, once across all processes', async () => {
      await upload('rooms/blocks/visit', { email: 'eva@example.com' }, 'eva.pdf');
      await form('rooms', 'visit', { email: 'finn@example.com' });
      const [, finn] =
        (await find('finn@example.com')).entries.length > 0
          ? ['', (await find('finn@example.com')).entries[0]?.id ?? '']
          : ['', ''];
      await stage.send({ as: 'eric', send: `DELETE rooms/record/${finn}` });
      await stage.put('rooms', 'kept', { block: 'team', title: 'Kept', members: [] });
      expect((await tablesWith('finn@example.com')).apps_history).toBe(2);

      // The second host begins with the tick that has come, by its clock.
      await expect.poll(async () => await withoutChanges('eva@example.com'), { timeout: 60_000 }).toEqual({});
      await expect.poll(async () => await withoutChanges('finn@example.com'), { timeout: 60_000 }).toEqual({});
      await expect
        .poll(async () => await withoutChanges('ben@example.com'), { timeout: 60_000 })
        .toEqual({
          apps_records: 2,
          apps_history: expect.any(Number),
          apps_mails: 1,
        });
      expect(await stage.items('rooms', 'kept')).toMatchObject({ title: 'Kept' });
      const stored = async (block: string) => {
        const { json } = await stage.send<{ items: Record<string, unknown> }[]>({
          as: 'mona',
          send: 'GET rooms/records',
        });
        return json.map(({ items }) => items).filter((items) => items.block === block);
      };
      expect(await stored('visit')).toEqual([]);
      expect((await stored('booking')).length).toBeGreaterThan(2);
      // One after the other.
      await expect
        .poll(async () => (await stored('booking')).filter(({ name, email }) => name || email), { timeout: 60_000 })
        .toEqual([]);
      await send(twin.url, { method: 'GET', path: `/site/@@apps/cards/blocks/broken?said=shown@example.com` });
      await expect.poll(() => twin.printed()).toContain('looked at by shown@example.com');
      await stage.send({ send: 'GET cards/blocks/broken?said=shown@example.com', accept: html });
      await expect.poll(() => stage.host.printed()).toContain('looked at by hidden@person.invalid');
    });

    test('is a schedule that can be seen, and run at once', async () => {
      const { json } = await stage.send<ScheduleSummary[]>({ as: 'foreman', send: 'GET /apps/schedules' });
      expect(json.map(({ app, block, function: name }) => [app, block, name])).toEqual([
        ['rooms', 'booking', '(keep)'],
        ['rooms', 'visit', '(keep)'],
      ]);
      await form('rooms', 'visit', { email: 'gus@example.com' });
      const run = await stage.send<{ job: string }>({
        as: 'foreman',
        send: 'POST /apps/schedules/run',
        json: { site: 'site', app: 'rooms', block: 'visit', function: '(keep)' },
      });
      const job = async () =>
        (await stage.send<JobDetail>({ as: 'foreman', send: `GET /apps/jobs/${run.json.job}` })).json;
      await expect.poll(async () => (await job()).view, { timeout: 20_000 }).toBe('done');
      expect((await job()).kind).toBe('keep');
    });
  });
});
