import { beforeEach, describe, expect, test } from 'vitest';
import { violations, violationsWithoutScript } from '../support/accessibility';
import { hasBrowser, keepPicture } from '../support/browser';
import { availableClients } from '../support/databases';
import { useBrowser, useDatabase, useStage, useThemes } from '../support/hooks';
import { html, type RowRequest } from '../support/stage';

const states = `states:
  new: { to: [accepted, refused], by: [editors, rita], label: New }
  accepted: { to: [refused], label: Accepted, notify: { to: '{email}', subject: 'Accepted: {title}' } }
  refused: {}
elements: { title: TEXT, email: EMAIL, put: ACTION, later: ACTION }
`;

const logic = `
export function put(context) {
  const { id, state, create } = context.request.body;
  const record = create ? context.app.create_record(id) : context.app.get_record(id);
  if (create) record.set_block('ask');
  record.state = state;
  if (context.request.body.save) record.save();
}
export function later(context) { context.jobs.add('ask/work', context.request.body); }
export function work(context) { context.app.get_record(context.params.id).state = context.params.state; }
`;

describe.each(await availableClients())('states on %s', (client) => {
  const themes = useThemes(async (copy) => {
    for (const [app, strict] of [
      ['desk', false],
      ['exact', true],
    ] as const) {
      const settings = [
        "acl: { rights: { reader: [rita, sam], editor: [editors, nina], submitter: ['*'] } }",
        "mail: { to: ['*@example.org'] }",
        'history: true',
        'options: { office: desk@example.org }',
        ...(strict ? ['strict: true'] : []),
      ];
      await copy.write(`main/apps/${app}/settings.yaml`, `${settings.join('\n')}\n`);
      await copy.write(`main/apps/${app}/blocks/ask.yaml`, states);
      await copy.write(`main/apps/${app}/blocks/ask.html`, '<h1>{title}</h1>{_state} {_edit} {_save}');
      await copy.write(`main/apps/${app}/blocks/ask.js`, logic);
    }
    await copy.write(
      'main/apps/desk/blocks/linked.yaml',
      `self_service: [edit]
notify: { to: notify@example.org, subject: 'Changed {link}', on_update: true }
states:
  new: { to: [accepted], notify: { to: state@example.org, subject: 'New {link}' } }
  accepted: { notify: { to: state@example.org, subject: 'Accepted {link}' } }
elements: { title: TEXT }
`,
    );
    await copy.write('main/apps/desk/blocks/linked.html', '{title} {_edit} {_save}');
    await copy.write(
      'main/apps/desk/blocks/linked.js',
      "export function record_id() { return 'named-' + Date.now(); }\n",
    );
    // Its logic changes records of the other app, to whose mails other settings belong.
    await copy.write(
      'main/apps/beside/settings.yaml',
      "options: { office: beside@example.com }\nmail: { to: ['*@example.com'] }\n",
    );
    await copy.write('main/apps/beside/blocks/shown.yaml', 'elements: { put: ACTION }\n');
    await copy.write('main/apps/beside/blocks/shown.html', 'of the other app');
    await copy.write(
      'main/apps/beside/blocks/shown.js',
      "export function put(context) { context.get_app('desk').get_record('r').state = 'done'; }\n",
    );
    await copy.write(
      'main/apps/desk/blocks/told.yaml',
      `states:
  new: { to: [done] }
  done: { notify: { to: '{options.office}', subject: 'Done: {title}', block: shown } }
elements: { title: TEXT }
`,
    );
    await copy.write('main/apps/desk/blocks/shown.yaml', 'elements: { title: TEXT }\n');
    await copy.write('main/apps/desk/blocks/shown.html', '<p>Of desk: {title}</p>');
    await copy.write('main/apps/desk/blocks/plain.yaml', 'elements: { title: TEXT }\n');
  });
  const database = useDatabase(client);
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: database().address.env }));
  beforeEach(async () => {
    for (const app of ['desk', 'exact']) await stage.send({ send: `DELETE ${app}/records`, as: 'mona' });
  });

  type Details = { code?: string; errors?: { path: string[]; message: string }[]; line?: number };
  const ask = async (send: string, json?: unknown, as = 'eric', more: Partial<RowRequest> = {}) => {
    const row = { send, as, ...(json === undefined ? {} : { json }), ...more };
    const { status, json: answer, text } = await stage.send<{ error?: { name: string; details: Details } }>(row);
    return { status, code: answer?.error?.details?.code, text, json: answer };
  };
  const state = async (id: string, app = 'desk') => (await stage.items(app, id))?.state;
  const make = (id: string, more: object = {}, app = 'desk') =>
    ask(`PUT ${app}/record/${id}`, { block: 'ask', title: id, ...more }, 'eric');
  const found = async (query: string) => {
    const { json } = await ask('POST desk/search', { query });
    return (json as unknown as { id: string }[]).map(({ id }) => id);
  };

  test('a new record has the first state, by form, JSON, bulk and logic, and is found by it', async () => {
    expect(await make('json')).toMatchObject({ status: 201 });
    expect(await make('first', { state: 'new' })).toMatchObject({ status: 201 });
    await ask('POST desk/blocks/ask', undefined, 'anonymous', { form: { title: 'form', _save: '1' }, accept: html });
    expect(await ask('POST desk/records', [{ id: 'bulk', block: 'ask' }, { id: 'none' }])).toMatchObject({
      status: 201,
    });
    expect(await ask('POST desk/blocks/ask/put', { id: 'logic', create: true })).toMatchObject({ status: 200 });
    expect(await state('json')).toBe('new');
    expect((await found("'new' in state")).length).toBe(5);
    await ask('PATCH desk/record/json', { state: 'accepted' });
    expect(await found("'accepted' in state")).toEqual(['json']);
  });

  test.each([
    ['eric', 'another item beside it', { state: 'accepted', title: 'x' }, 200],
    ['eric', 'a state to which no way leads', { state: 'nowhere' }, 409],
    ['eric', 'a value that is no text', { state: 7 }, 409],
    ['eric', 'the state that it has', { state: 'new' }, 200],
    ['mona', 'a manager', { state: 'accepted' }, 200],
    ['rita', 'one whom "by" names, who may not change the record otherwise', { state: 'accepted' }, 200],
    ['rita', 'the same with another item', { state: 'accepted', title: 'x' }, 403],
    ['nina', 'an editor whom "by" does not name', { state: 'accepted' }, 403],
    ['sam', 'a reader', { state: 'accepted' }, 403],
    ['anonymous', 'anonymous', { state: 'accepted' }, 401],
  ])('PATCH by %s: %s', async (as, _what, items, status) => {
    for (const app of ['desk', 'exact']) {
      await make('r', {}, app);
      const answer = await ask(`PATCH ${app}/record/r`, items, as);
      expect(answer, `${app}: ${answer.text}`).toMatchObject({ status });
      expect(answer.code).toBe(status === 409 ? 'state' : undefined);
      expect(await state('r', app)).toBe(status === 200 ? items.state : 'new');
    }
  });

  test('a state cannot be taken away, nor chosen at the creation; the last one has no way out', async () => {
    await make('r');
    await ask('PATCH desk/record/r', { state: 'refused' });
    for (const value of ['new', 'accepted', null])
      expect(await ask('PATCH desk/record/r', { state: value }), String(value)).toMatchObject({
        status: 409,
        code: 'state',
      });
    for (const as of ['eric', 'mona', 'anonymous'])
      expect(await ask('PUT desk/record/c', { block: 'ask', state: 'accepted' }, as), as).toMatchObject({
        status: 409,
        code: 'state',
      });
    expect(await ask('POST desk/records', [{ block: 'ask' }, { block: 'ask', state: 'refused' }])).toMatchObject({
      status: 409,
    });
    expect(await ask('POST exact/blocks/ask', { title: 'x', state: 'new', _save: '1' })).toMatchObject({ status: 422 });
    expect(await stage.items('desk', 'c')).toBeNull();
  });

  test('logic, jobs and code follow the ways, with any requester', async () => {
    await make('r');
    expect(await ask('POST desk/blocks/ask/put', { id: 'r', state: 'accepted' }, 'anonymous')).toMatchObject({
      status: 200,
    });
    expect(await ask('POST desk/blocks/ask/put', { id: 'r', state: 'new' })).toMatchObject({
      status: 409,
      code: 'state',
    });
    expect(await ask('POST desk/blocks/ask/put', { id: 'r', state: 'new', save: true })).toMatchObject({ status: 409 });
    expect(await state('r')).toBe('accepted');
    await ask('POST desk/blocks/ask/put', { id: 'made', create: true, state: 'accepted' });
    expect(await state('made')).toBe('accepted');
    await ask('POST desk/blocks/ask/later', { id: 'made', state: 'refused' });
    await expect.poll(() => state('made')).toBe('refused');
  });

  test('the panel changes the state of any record along the ways; an import restores any state', async () => {
    await make('r');
    const panel = '/apps/sites/site/apps/desk';
    const change = async (value: string) => {
      const { json } = await stage.send<{ version: string; items: object }>({
        send: `GET ${panel}/record?id=r`,
        as: 'clerk',
      });
      const body = { items: { ...json.items, state: value }, version: json.version };
      return stage.send({ send: `PUT ${panel}/record?id=r`, as: 'clerk', json: body });
    };
    expect(await change('nowhere')).toMatchObject({ status: 409 });
    expect(await change('accepted')).toMatchObject({ status: 200 });
    const create = (value: string) =>
      stage.host.run(
        (strapi, state) =>
          strapi
            .plugin('apps')
            .service('records')
            .create('site', 'desk', [{ id: state, items: { block: 'ask', state }, creator: null }], false)
            .then(
              () => null,
              (error: { details: object }) => error.details,
            ),
        value,
      );
    expect(await create('refused')).toBeNull();
    expect(await state('refused')).toBe('refused');
    expect(await create('nowhere')).toMatchObject({ code: 'state' });
  });

  test('the definition as JSON has the states; to whom they send mail, only for managers', async () => {
    const shown = async (as: string) => (await ask('GET desk/blocks/ask', undefined, as)).text;
    for (const as of ['anonymous', 'eric']) {
      expect(await shown(as)).toContain('"refused":{}');
      expect(await shown(as)).not.toContain('notify');
    }
    expect(await shown('mona')).toContain('notify');
  });

  test('a deleted record comes back in the state that it had, whatever version is restored', async () => {
    await make('r');
    await ask('PATCH desk/record/r', { state: 'accepted' });
    await ask('PATCH desk/record/r', { state: 'refused' });
    await ask('DELETE desk/record/r');
    type Versions = { version: number; items: { state: string } | null }[];
    const versions = async () => (await stage.send<Versions>({ send: 'GET desk/history/r', as: 'eric' })).json;
    const accepted = (await versions()).find(({ items }) => items?.state === 'accepted');
    expect(await ask('POST desk/history/r', { version: accepted?.version })).toMatchObject({ status: 201 });
    expect(await state('r')).toBe('refused');
    // Of a record that is there the state would change: no way leads back.
    expect(await ask('POST desk/history/r', { version: accepted?.version })).toMatchObject({
      status: 409,
      code: 'state',
    });
  });

  test('a record from before has the first state; one that comes from another block gets it', async () => {
    await stage.keep('desk', 'old', { block: 'ask', title: 'x' });
    expect(await ask('PATCH desk/record/old', { title: 'y' })).toMatchObject({ status: 200 });
    expect(await ask('PATCH desk/record/old', { state: 'accepted' })).toMatchObject({ status: 200 });
    await stage.keep('desk', 'gone', { block: 'ask', state: 'renamed' });
    expect(await ask('PATCH desk/record/gone', { state: 'accepted' })).toMatchObject({ status: 200 });
    await ask('PUT desk/record/moves', { block: 'plain', title: 'x' });
    expect(await ask('PATCH desk/record/moves', { block: 'ask' })).toMatchObject({ status: 200 });
    expect(await state('moves')).toBe('new');
  });

  test('a state sends its mail when a record comes into it, in the same transaction', async () => {
    const mails = () =>
      stage.host.run(async (strapi) =>
        (await strapi.db.query('plugin::apps.mail').findMany({ where: { app: 'desk' } })).map(
          ({ subject }: { subject: string }) => subject,
        ),
      );
    const before = (await mails()).length;
    await make('r', { email: 'a@example.org' });
    await ask('PATCH desk/record/r', { title: 'Named' });
    expect((await mails()).length).toBe(before);
    await ask('PATCH desk/record/r', { state: 'nowhere' });
    await ask('PATCH desk/record/r', { state: 'accepted' });
    expect((await mails()).slice(before)).toEqual(['Accepted: Named']);
  });

  test('mails about a record have its link: those of its first state, and of changes that editors make', async () => {
    const subjects = () =>
      stage.host.run(async (strapi) => {
        const rows = await strapi.db.query('plugin::apps.mail').findMany({ where: { app: 'desk' }, orderBy: 'id' });
        return rows.map(({ recipients, subject }: Record<string, string>) => `${recipients}: ${subject}`);
      });
    const before = (await subjects()).length;
    const made = await ask('POST desk', { block: 'linked', title: 'a' }, 'anonymous');
    const { id, link } = made.json as unknown as { id: string; link: string };
    expect([id, link]).toEqual([expect.stringMatching(/^named-/), expect.stringContaining('/desk/mine/')]);
    await ask(`PATCH desk/record/${id}`, { state: 'accepted' });
    const saved = await ask(`POST desk/record/${id}`, undefined, 'eric', {
      form: { title: 'b', _save: '1' },
      accept: html,
    });
    expect(saved.status, saved.text).toBe(303);
    const ofForm = await ask('POST desk/blocks/linked', { title: 'c', _save: '1' }, 'anonymous');
    const { link: second } = ofForm.json as unknown as { link: string };
    expect((await subjects()).slice(before)).toEqual([
      `state@example.org: New ${link}`,
      `state@example.org: Accepted ${link}`,
      `notify@example.org: Changed ${link}`,
      `state@example.org: New ${second}`,
      `notify@example.org: Changed ${second}`,
    ]);
  });

  test('logic of another app changes a state: the mail is that of the app of the record', async () => {
    await ask('PUT desk/record/r', { block: 'told', title: 'Told' });
    const changed = await ask('POST beside/blocks/shown/put', {}, 'mona');
    expect(changed.status, changed.text).toBe(200);
    expect(await state('r')).toBe('done');
    const mails = await stage.host.run((strapi) =>
      strapi.db.query('plugin::apps.mail').findMany({ where: { subject: 'Done: Told' } }),
    );
    expect(mails).toMatchObject([{ app: 'desk', recipients: 'desk@example.org' }]);
    expect(mails[0].html ?? '<p>Of desk: Told</p>').toContain('Of desk: Told');
  });

  test('of two changes of one state at the same time exactly one is made', async () => {
    for (let round = 0; round < 5; round += 1) {
      await make(`r${round}`);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          ask(`PATCH desk/record/r${round}`, { state: at % 2 ? 'refused' : 'accepted', title: `by ${at}` }),
        ),
      );
      const won = answers.filter(({ status }) => status === 200).length;
      const { json } = await stage.send<{ items: { state: string } }[]>({
        send: `GET desk/history/r${round}`,
        as: 'eric',
      });
      const seen = json.map(({ items }) => items.state);
      // accepted may go on to refused: each further change has followed a way, and the same state again is no change.
      const changes = seen.filter((value, at) => value !== seen[at + 1]);
      expect([
        ['refused', 'new'],
        ['accepted', 'new'],
        ['refused', 'accepted', 'new'],
      ]).toContainEqual(changes);
      expect(won).toBeGreaterThanOrEqual(1);
      expect(answers.every(({ status, code }) => status === 200 || code === 'state')).toBe(true);
    }
    // From a state with one way out to states that have none: one of all wins.
    await themes.write('main/apps/desk/blocks/ask.yaml', states.replace('to: [refused], ', ''));
    await expect
      .poll(async () => {
        await make('probe', {});
        await ask('PATCH desk/record/probe', { state: 'accepted' });
        const { status } = await ask('PATCH desk/record/probe', { state: 'refused' });
        await ask('DELETE desk/record/probe');
        return status;
      })
      .toBe(409);
    await make('last');
    const rivals = Array.from({ length: 20 }, (_, at) =>
      ask('PATCH desk/record/last', { state: at % 2 ? 'refused' : 'accepted' }),
    );
    const answers = await Promise.all(rivals);
    const final = await state('last');
    for (const [at, { status }] of answers.entries())
      expect(status, String(at)).toBe((at % 2 ? 'refused' : 'accepted') === final ? 200 : 409);
    const { json } = await stage.send<{ items: { state: string } }[]>({ send: 'GET desk/history/last', as: 'eric' });
    expect(json.map(({ items }) => items.state)).toEqual([final, 'new']);
    await themes.write('main/apps/desk/blocks/ask.yaml', states);
  }, 60_000);

  test('the page of a record shows its state, and the buttons of those who may press them', async () => {
    await make('r');
    const page = async (as: string) => (await ask('GET desk/record/r', undefined, as, { accept: html })).text;
    const buttons = async (as: string) =>
      [...(await page(as)).matchAll(/name="_state" value="(\w+)"/g)].map(([, to]) => to);
    expect(await page('sam')).toMatch(/aria-label="State"><strong data-state="new">New<\/strong>/);
    expect([await buttons('sam'), await buttons('nina')]).toEqual([[], []]);
    for (const as of ['eric', 'rita', 'mona']) expect(await buttons(as), as).toEqual(['accepted', 'refused']);
    const press = (value: string, as: string, more: Partial<RowRequest> = {}) =>
      ask('POST desk/record/r', undefined, as, { form: { _state: value }, accept: html, ...more });
    expect(await press('accepted', 'anonymous', { csrf: false })).toMatchObject({ status: 403 });
    expect(await press('nowhere', 'rita')).toMatchObject({
      status: 409,
      text: expect.stringContaining('It cannot be changed from “New” to “nowhere”'),
    });
    expect(await press('accepted', 'nina')).toMatchObject({ status: 403 });
    expect(await press('accepted', 'anonymous')).toMatchObject({ status: 401 });
    expect(await press('accepted', 'rita')).toMatchObject({ status: 303 });
    expect(await state('r')).toBe('accepted');
    // Without "by" those who may change the record.
    expect([await buttons('rita'), await buttons('nina'), await buttons('eric')]).toEqual([
      [],
      ['refused'],
      ['refused'],
    ]);
    const { json } = await stage.send<{ by: string; through: string; items: object }[]>({
      send: 'GET desk/history/r',
      as: 'eric',
    });
    expect(json[0]).toMatchObject({
      through: 'form',
      by: expect.stringMatching(/^user:/),
      items: { state: 'accepted' },
    });
  });

  const sizes = [
    { width: 1280, height: 800 },
    { width: 390, height: 800 },
  ];
  const looks = sizes.flatMap((viewport) =>
    [true, false].map((javaScriptEnabled) => ({ viewport, javaScriptEnabled })),
  );

  describe.runIf(hasBrowser && client === 'sqlite')('in a browser', () => {
    const browser = useBrowser();
    test.each(looks)('the buttons work, without a violation: %j', async ({ viewport, javaScriptEnabled }) => {
      await make('r', { title: 'A question' });
      const { page, context } = await browser.visitor({ viewport, javaScriptEnabled, bypassCSP: true });
      const user = await stage.user('rita');
      await page.goto(`${stage.host.url}/site/@@login?next=${encodeURIComponent('/site/@@apps/desk/record/r')}`);
      await page.locator('input:not([type=hidden])').first().fill(user.username);
      await page.locator('input[type=password]').fill(user.password);
      await page.locator('main button, form button').first().click();
      const states = page.getByRole('group', { name: 'State' });
      await states.getByText('New', { exact: true }).waitFor();
      const look = javaScriptEnabled ? violations : violationsWithoutScript;
      expect(await look(page)).toEqual([]);
      await keepPicture(page, `state-${viewport.width}-${javaScriptEnabled}`);
      expect(await states.getByRole('button').allTextContents()).toEqual(['Change to: Accepted', 'Change to: refused']);
      await states.getByRole('button', { name: 'Change to: Accepted' }).click();
      await states.getByText('Accepted', { exact: true }).waitFor();
      expect(await states.getByRole('button').count()).toBe(0);
      expect(await state('r')).toBe('accepted');
      // Another one has been faster: the page says so, and shows what is true now.
      await make('late');
      await page.goto(`${stage.host.url}/site/@@apps/desk/record/late`);
      await ask('PATCH desk/record/late', { state: 'refused' });
      await states.getByRole('button', { name: 'Change to: Accepted' }).click();
      await page.getByText('It cannot be changed from “refused” to “Accepted”.').waitFor();
      expect(await state('late')).toBe('refused');
      await context.close();
    });
  });
});
