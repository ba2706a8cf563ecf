import { beforeAll, describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { consoleIn } from './console';

/** Mistakes in a theme, in rights, and in the host's own code: docs/mistakes.md. */
const rules = `- after: h1
  include: /@@apps/slips/blocks/like
- replace: p.main
  include: /@@apps/slips/blocks/like
- after: .nowhere
  include: /@@apps/slips/blocks/fine
- append: main
  include: /@@apps/slips/blocks/fine
  select: p.part
- append: main
  include: /@@apps/slips/blocks/fine
  select: p.absent
- afterwards: main
  include: /@@apps/slips/blocks/fine
`;
const files: Record<string, string> = {
  'rules.yaml': rules,
  'layout.html': '<html><body>\n<p>{{ titel }}</p><main>{{ main }}</main></body></html>',
  'templates/portal.html': '<h1>Start</h1><p class="main">text</p>',
  'apps/slips/settings.yaml': 'debug: true\nacl:\n  rights:\n    reader: [authers, eric]\n',
  'apps/slips/blocks/like.html': '{like}',
  'apps/slips/blocks/like.yaml': 'elements: { like: ACTION }\n',
  'apps/slips/blocks/like.js': 'export function like( {\n',
  'apps/slips/blocks/fine.html': '<p class="part">{found}</p>',
  'apps/slips/blocks/fine.yaml': 'elements: { found: BASIC }\n',
  'apps/slips/blocks/fine.js': 'export function found(context) {\n  context.app.log("seen");\n  return "well";\n}\n',
  'apps/star/settings.yaml': 'debug: true\nacl:\n  rights:\n    reader: "*"\n',
  'apps/star/blocks/fine.html': '<p>fine</p>',
  'apps/closed/blocks/results.html': '<p>results</p>',
  'apps/closed/blocks/results.yaml': 'view_permission: [eric]\n',
};

const themes = useThemes(async (themes) => {
  for (const [file, text] of Object.entries(files)) await themes.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));
beforeAll(async () => {
  await stage.user('eric');
  await stage.user('abel');
});

const page = (as: string, send = '/site/') => stage.send({ as, send: `GET ${send}`, accept: 'text/html' });

describe('a page with broken rules', () => {
  test('a page with broken rules is whole, and explained where the app is in debug mode', async () => {
    const { status, text } = await page('anonymous');
    expect(status).toBe(200);
    const mark = 'This part could not be shown: apps/slips/blocks/like.js:2:1: SyntaxError';
    expect(text.split(mark).length - 1, text).toBe(2);
    expect(text).toMatch(/<h1>Start<\/h1><span class="apps-error"/);
    expect(text).toContain('<p class="main">text</p>');
    expect(text).toContain('<p class="part">well</p>');
    const lines = consoleIn(text);
    expect(lines).toContainEqual(
      expect.stringMatching(/^slips\/like LogicError apps\/slips\/blocks\/like.js:2:1: SyntaxError/),
    );
    // The rule selects a part of the block without its form: its log arrives nevertheless.
    expect(lines).toContain('slips/fine:2 seen');
    expect(text).not.toContain('rules.yaml');
  });

  const notices: [what: string, line: RegExp][] = [
    [
      'a selector that matches nothing',
      /the rule at rules.yaml:5 matches nothing in \/site\/: no element is ".nowhere"/,
    ],
    ['a select that matches nothing', /the rule at rules.yaml:10 selects nothing in the block slips\/blocks\/fine/],
    ['a rule that is not one', /"afterwards" is not known/],
    ['a variable that does not exist', /layout.html:2: there is no variable "titel"/],
  ];
  test.each(notices)('%s: managers see it, and it is logged once', async (_what, line) => {
    const { text } = await page('mona');
    expect(
      consoleIn(text).some((one) => line.test(one)),
      consoleIn(text).join('\n'),
    ).toBe(true);
    expect(consoleIn((await page('anonymous')).text).some((one) => line.test(one))).toBe(false);
    const logged = (await stage.host.printed()).split('\n').filter((one) => line.test(one));
    expect(logged.length).toBe(1);
  });

  test('a layout shows a manager where the variable is missing', async () => {
    expect((await page('mona')).text).toContain('layout.html:2: there is no variable &quot;titel&quot;</span>');
    expect((await page('anonymous')).text).toContain('<p></p>');
  });
});

describe('rights', () => {
  test('a misspelt group is in the log, and in the console of managers', async () => {
    await page('eric', '/site/@@apps/slips/blocks/fine');
    const line = /apps\/slips\/settings.yaml:4: no user and no role is called "authers", did you mean "authors"/;
    await expect.poll(() => line.test(stage.host.output())).toBe(true);
    const seenBy = async (who: string) =>
      consoleIn((await page(who, '/site/@@apps/slips/blocks/fine')).text).join('\n');
    expect(await seenBy('mona')).toMatch(line);
    expect(await seenBy('anonymous')).not.toMatch(line);
    expect(await stage.host.printed()).not.toContain('is called "eric"');
  });

  test('a star without brackets is explained, because the broken file sets debug', async () => {
    const { status, text } = await page('anonymous', '/site/@@apps/star/blocks/fine');
    expect(status).toBe(500);
    expect(text).toMatch(/apps\/star\/settings.yaml:4.*must be a list of users and groups, such as \[&quot;\*&quot;\]/);
    expect(await stage.host.printed()).toContain('must be a list of users and groups');
  });

  test('a user row is no requester', async () => {
    const call = await stage.host.run(async (strapi) => {
      const requester = await strapi.db.query('plugin::users-permissions.user').findOne({});
      return strapi
        .plugin('apps')
        .service('apps')
        .call('slips/fine/found', { requester })
        .catch(({ name, message }: Error) => ({ name, message }));
    });
    expect(call).toMatchObject({ name: 'BadRequestError', message: expect.stringContaining('"requester" must be') });
  });
});

describe('messages for visitors', () => {
  const rows: [what: string, send: string, headers: Record<string, string>, status: number, has: RegExp][] = [
    [
      'a block that is not for everybody',
      '/site/@@apps/closed/blocks/results',
      {},
      401,
      /Please log in to see &quot;results&quot;/,
    ],
    ['a list of records', '/site/@@apps/closed/record/x', {}, 401, /Please log in to see this page/],
    ['a login that has ended', '/site/', { cookie: 'apps_session=gone' }, 401, /Please log in again/],
    ['an unknown address', '/site/@@apps/absent/blocks/x', {}, 404, /Error 404/],
  ];
  test.each(rows)('%s explains itself to a visitor', async (_what, send, headers, status, has) => {
    const answer = await stage.send({ send: `GET ${send}`, accept: 'text/html', headers });
    expect(answer.status, answer.text).toBe(status);
    // The theme's own mistakes are marked in the page too.
    const own = answer.text.replace(/<(\w+)[^>]*class="apps-error"[^>]*>.*?<\/\1>/gs, '');
    const seen = own.replace(/<[^>]*>/g, ' ');
    expect(seen).toMatch(has);
    expect(seen).not.toMatch(/\b\w+Error\b|credentials/);
  });
});
