import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { useFolder, useHost } from '../support/hooks';
import { repository } from '../support/theme';
import { globals, tableOfGlobals } from './reference/javascript';
import { features, modules, tableOfFeatures, tableOfModules } from './reference/python';

/**
 * The tables of docs/reference/javascript.md and docs/reference/python.md: what logic finds in the real sandbox. Where they
 * differ, `npx vitest run --project e2e tests/docs/reference.test.ts -u` writes the pages.
 */
const page = (name: string) => path.join(repository, 'docs', 'reference', `${name}.md`);

/** One block with one function, whose value is that of the last line. */
const python = (code: string) =>
  `def found(context):\n${code.replace(/^/gm, '    ')}\n    return x if isinstance(x, str) else repr(x)\n`;

const probe = `export function found({ request }) {
  return request.body.names.map((name) => {
    try {
      return typeof (0, eval)(name) !== 'undefined';
    } catch {
      return false;
    }
  });
}
`;

const blocks: Record<string, string> = {
  'globals.js': probe,
  ...Object.fromEntries(modules.map(({ name }, at) => [`module-${at}.py`, python(`import ${name}\nx = 'there'`)])),
  ...Object.fromEntries(features.map(({ code }, at) => [`feature-${at}.py`, python(code)])),
};

const at = useFolder('reference', async (folder) => {
  const app = path.join(folder, 'mine', 'apps', 'probe');
  await mkdir(path.join(app, 'blocks'), { recursive: true });
  await writeFile(path.join(app, 'settings.yaml'), 'debug: true\n');
  for (const [file, text] of Object.entries(blocks)) {
    const block = path.join(app, 'blocks', path.parse(file).name);
    await writeFile(`${block}${path.extname(file)}`, text);
    await writeFile(`${block}.yaml`, 'elements: { found: BASIC }\n');
  }
});
const host = useHost(() => ({ themesDirectory: at(), env: { APPS_THEME: 'mine' } }));

/** What the function of a block answers, or the message of its error. */
async function ask<T>(block: string, body: object = {}): Promise<{ value?: T; error?: string }> {
  const app = `${host.url}/site/@@apps/probe`;
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const token = (await fetch(app, { headers })).headers.get('x-csrf-token') ?? '';
  const answer = await fetch(`${app}/blocks/${block}/found`, {
    method: 'POST',
    headers: { ...headers, 'x-csrf-token': token },
    body: JSON.stringify(body),
  });
  const json = await answer.json();
  return answer.ok ? { value: json as T } : { error: json.error.message };
}

/** All answers of blocks that are numbered. */
async function askAll(name: string, count: number): Promise<{ value?: string; error?: string }[]> {
  const answers = [];
  for (let number = 0; number < count; number += 1) answers.push(await ask<string>(`${name}-${number}`));
  return answers;
}

/** The page with its tables written over, each between a comment with its name and the next one. */
async function withTables(name: string, tables: Record<string, string>): Promise<string> {
  let text = await readFile(page(name), 'utf8');
  for (const [table, rows] of Object.entries(tables)) {
    const place = new RegExp(`(?<=<!-- ${table}[^>]*-->\n)[^]*?(?=<!-- end -->)`);
    expect(text, `${name}.md has a place for ${table}`).toMatch(place);
    text = text.replace(place, () => `\n${rows}\n`);
  }
  return text;
}

test('the page of JavaScript says which globals logic has', async () => {
  const { value = [] } = await ask<boolean[]>('globals', { names: globals.flatMap(({ names }) => names) });
  expect(value).toHaveLength(globals.flatMap(({ names }) => names).length);
  const made = await withTables('javascript', { globals: tableOfGlobals(value) });
  await expect(made).toMatchFileSnapshot(page('javascript'));
});

test('the page of Python says which modules there are and what differs', async () => {
  const made = await withTables('python', {
    modules: tableOfModules((await askAll('module', modules.length)).map(({ value }) => value === 'there')),
    features: tableOfFeatures(await askAll('feature', features.length)),
  });
  await expect(made).toMatchFileSnapshot(page('python'));
});
