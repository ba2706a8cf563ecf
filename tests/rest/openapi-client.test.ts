import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { useFolder, useStage, useThemes } from '../support/hooks';
import { repository } from '../support/theme';
import { typeErrors } from '../support/typescript';

/** The app that `strapi-plugin-apps init` makes. */
const starter = path.join(repository, 'plugins/apps/starter/theme/apps/guestbook');
const themes = useThemes((themes) =>
  cp(starter, path.join(themes.directory, 'main/apps/guestbook'), { recursive: true }),
);
const stage = useStage(() => ({ themesDirectory: themes.directory }));
const at = useFolder('client', (folder) =>
  symlink(path.join(repository, 'node_modules'), path.join(folder, 'node_modules')),
);

test('the documented client is typed by openapi-typescript and works', async () => {
  const { json, text } = await stage.send({ as: 'mona', send: 'GET guestbook/openapi.json' });
  expect(json).toBeDefined();
  await writeFile(at('guestbook.ts'), astToString(await openapiTS(text)));
  const source = await readFile(path.join(repository, 'docs', 'examples', 'openapi-client.ts'), 'utf8');
  await writeFile(at('client.ts'), source);
  expect(typeErrors(at('client.ts'))).toEqual([]);

  const wrong = `import type { Entry } from './client';
export const entries: Entry[] = [
  { name: 'Ann', message: 'Hello' },
  { name: 3, message: 'Hello' },
  { name: 'Ann' },
];
`;
  await writeFile(at('wrong.ts'), wrong);
  expect(typeErrors(at('wrong.ts')).map((error) => error.replace(/:.*/s, ''))).toEqual(['4', '5']);

  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  await writeFile(at('client.mjs'), outputText);
  const { sign } = await import(/* @vite-ignore */ pathToFileURL(at('client.mjs')).href);
  const url = `${stage.host.url}/site/@@apps`;
  const entry = { name: 'Ann', message: 'Hello' };
  const stored = { ...entry, block: 'guestbook', written_at: expect.any(String), id: expect.any(String) };
  expect(await sign(url, entry)).toEqual(stored);
  await expect(sign(url, { name: '', message: '' })).rejects.toThrow('ValidationError');
});
