import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Host, startHost } from './support/host';

const root = path.resolve(__dirname, '..');
const origin = 'http://localhost:1337';
const textOf = (file: string) => readFile(path.join(root, file), 'utf8');

/** One fenced block of commands, and what the block below it says that they print. */
interface Step {
  commands: string;
  printed: string;
}

/** What a reader does with a text: types its `sh` blocks, and writes the files whose names stand above a block. */
function steps(text: string): Step[] {
  const found: Step[] = [];
  for (const [, file, language, body = ''] of text.matchAll(/(?:^`(\S+)`:\n\n)?^```(\w+)\n(.*?)^```$/gms)) {
    if (file)
      found.push({ commands: `mkdir -p ${path.dirname(file)}; cat > ${file} <<'END'\n${body}END`, printed: '' });
    else if (language === 'sh') found.push({ commands: body.trimEnd(), printed: '' });
    else if (found.length > 0) (found.at(-1) as Step).printed = body.trimEnd();
  }
  return found;
}

/** Whether a text is as printed, where `…` stands for anything. */
function pattern(printed: string): RegExp {
  const parts = printed.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

const mark = '<<end of step>>';
const withoutEmptyLines = (text: string) => text.split('\n').filter(Boolean).join('\n');

/** Runs all steps in one bash, as somebody types them; the output of each by its place. */
function typed(host: Host, all: Step[], { folder = root, input = '' }): Promise<string[]> {
  // Answers end without a line break, so that every command's is put on a line of its own.
  const lineByLine = (commands: string) => (commands.includes('<<') ? commands : commands.replaceAll('\n', '\necho\n'));
  const script = all.map(({ commands }) => `${lineByLine(commands)}\necho '${mark}'`).join('\n');
  const bash = spawn('bash', ['--noprofile', '--norc', '-c', script.replaceAll(origin, host.url)], { cwd: folder });
  bash.stdin.end(input);
  let out = '';
  bash.stdout.on('data', (text) => {
    out += text;
  });
  return new Promise((resolve, reject) => {
    bash.on('error', reject);
    bash.on('close', () => resolve(out.replaceAll(host.url, origin).split(mark).map(withoutEmptyLines)));
  });
}

const [, tour = ''] = (await textOf('README.md')).split(/^## A five-minute tour$/m);
const section = (name: string) => new RegExp(`^### ${name}$(.*?)(?=^###? |$(?![\\s\\S]))`, 'ms').exec(tour)?.[1] ?? '';

describe('the tour of README.md', () => {
  let host: Host;
  const passwordOf = (user: string) => new RegExp(`^ {2}${user} +(\\S+)`, 'm').exec(host.output())?.[1] ?? '';
  beforeAll(async () => {
    host = await startHost({ env: { APPS_DEMO: 'true' } });
  });
  afterAll(() => host?.stop());

  describe('by curl', () => {
    const all = steps(section('By curl'));
    let outputs: string[] = [];
    beforeAll(async () => {
      outputs = await typed(host, all, { input: `${passwordOf('anna')}\n` });
    });

    test('has commands with answers', () => {
      expect(all.filter(({ printed }) => printed).length).toBeGreaterThan(7);
    });

    test.each(all.map((step, place) => ({ ...step, place })))('$commands', ({ printed, place }) => {
      expect(outputs[place]).toMatch(pattern(printed));
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

    test('shows every app', () => {
      const apps = new Set(pages.map(({ address }) => /@@apps\/(\w+)/.exec(address)?.[1]));
      expect([...apps].sort()).toEqual(['comments', 'contact', 'glossary', 'rating', 'survey']);
    });

    test.each(pages)('$address as $user', async ({ address, user, words }) => {
      const basic = Buffer.from(`${user}:${passwordOf(user)}`).toString('base64');
      const headers = { accept: 'text/html', ...(user === 'nobody' ? {} : { authorization: `Basic ${basic}` }) };
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
  const all = steps(text);
  let folder: string;
  let host: Host;
  let outputs: string[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'apps-tutorial-'));
    await cp(path.join(root, 'themes'), path.join(folder, 'themes'), { recursive: true });
    host = await startHost({ themesDirectory: path.join(folder, 'themes'), env: { APPS_DEMO: 'true' } });
    outputs = await typed(host, all, { folder });
  });
  afterAll(async () => {
    await host?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(all.map((step, place) => ({ ...step, place })))('$commands', ({ printed, place }) => {
    expect(outputs[place]).toMatch(pattern(printed));
  });

  test.each([...new Set(text.match(/(?<=<)http\S+(?=>)/g))])('%s is a page', async (address) => {
    const response = await fetch(address.replace(origin, host.url));
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('role="alert"');
  });
});
