import { beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../support/command-line';
import { configured } from '../support/configure';
import { writeFiles } from '../support/files';
import { useFolder, useHost } from '../support/hooks';
import { repository } from '../support/theme';
import { documented as origin, patternOf, stepsOf, textOf, typed } from '../support/typed';

const [, tour = ''] = (await textOf('README.md')).split(/^## A five-minute tour$/m);
const section = (name: string) => new RegExp(`^### ${name}$(.*?)(?=^###? |$(?![\\s\\S]))`, 'ms').exec(tour)?.[1] ?? '';

describe('the tour of README.md', () => {
  const host = useHost({ env: { APPS_DEMO: 'true' } });
  const passwordOf = (user: string) => new RegExp(`^ {2}${user} +(\\S+)`, 'm').exec(host.output())?.[1] ?? '';

  describe('by curl', () => {
    const all = stepsOf(section('By curl'));
    let outputs: string[] = [];
    beforeAll(async () => {
      outputs = await typed(host, all, { folder: repository, input: `${passwordOf('anna')}\n` });
    });

    test('the tour has commands with answers', () => {
      expect(all.filter(({ printed }) => printed).length).toBeGreaterThan(7);
    });

    test.each(all.map((step, index) => ({ ...step, index })))('$commands', ({ printed, index }) => {
      expect(outputs[index]).toMatch(patternOf(printed));
    });
  });

  describe('by browser', () => {
    /** The rows of the tour's table: address, user, and the words that the page shows. */
    const pages = [...section('By browser').matchAll(/^\| <(\S+)> \| (\w+) \| (.+) \|$/gm)].map(
      ([, address = '', user = '', see = '']) => ({
        address,
        user,
        words: [...see.matchAll(/\*\*(.+?)\*\*/g)].map(([, word]) => word as string),
      }),
    );

    test('the tour shows every app', () => {
      const apps = new Set(pages.map(({ address }) => /@@apps\/(\w+)/.exec(address)?.[1]));
      expect([...apps].sort()).toEqual([
        'card',
        'comments',
        'contact',
        'delivery',
        'glossary',
        'poll',
        'rating',
        'reading',
        'survey',
      ]);
    });

    test.each(pages)('$address as $user', async ({ address, user, words }) => {
      const basic = Buffer.from(`${user}:${passwordOf(user)}`).toString('base64');
      const headers = { accept: 'text/html', ...(user === 'anonymous' ? {} : { authorization: `Basic ${basic}` }) };
      const response = await fetch(address.replace(origin, host.url), { headers });
      expect(response.status).toBe(200);
      const shown = (await response.text()).replace(/<[^>]+>/g, '');
      expect(words.length).toBeGreaterThan(0);
      for (const word of words) expect(shown).toContain(word);
    });

    test('the login form is where the tour says', async () => {
      const address = /\[login form\]\((\S+)\)/.exec(section('By browser'))?.[1] ?? '';
      expect((await fetch(address.replace(origin, host.url))).status).toBe(200);
    });
  });
});

describe('the app of docs/tutorial.md', async () => {
  const text = await textOf('docs/tutorial.md');
  const all = stepsOf(text);
  /** A host of one's own, after docs/start/install.md. */
  const inFolder = useFolder('tutorial', async (folder) => {
    await writeFiles(folder, { 'package.json': '{"dependencies": {"@strapi/strapi": "^5.0.0"}}' });
    expect((await runCli(['init'], { cwd: folder })).code).toBe(0);
  });
  const sites = [{ id: 'site', title: 'My site', theme: 'default' }];
  const host = useHost(() => ({ themesDirectory: inFolder('themes'), env: configured({ apps: { sites } }) }));
  let outputs: string[] = [];
  beforeAll(async () => {
    outputs = await typed(host, all, { folder: inFolder() });
  });

  test.each(all.map((step, index) => ({ ...step, index })))('$commands', ({ printed, index }) => {
    expect(outputs[index]).toMatch(patternOf(printed));
  });

  test.each([...new Set(text.match(/(?<=<)http\S+(?=>)/g))])('%s is a page', async (address) => {
    const response = await fetch(address.replace(origin, host.url));
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('role="alert"');
  });
});
