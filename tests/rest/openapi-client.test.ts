import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { useFolder, useStage, useThemes } from '../support/hooks';
import { repository } from '../support/theme';
import { typeErrors } from '../support/typescript';

const themes = useThemes({
  'main/apps/guestbook/settings.yaml': 'acl: {rights: {editor: ["*"]}}\n',
  'main/apps/guestbook/blocks/entry.yaml': `
elements:
  name: {type: TEXT, required: true}
  stars: {type: NUMBER, min: 1, max: 5}
  color: {type: SELECT, options: [red, blue]}
`,
});
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
  { block: 'entry', name: 'Ann', stars: null, color: 'blue' },
  { block: 'entry', name: 3 },
  { block: 'entry', color: 'green' },
  { block: 'other' },
];
`;
  await writeFile(at('wrong.ts'), wrong);
  expect(typeErrors(at('wrong.ts')).map((error) => error.replace(/:.*/s, ''))).toEqual(['4', '5', '6']);

  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  await writeFile(at('client.mjs'), outputText);
  const { sign } = await import(/* @vite-ignore */ pathToFileURL(at('client.mjs')).href);
  const url = `${stage.host.url}/site/@@apps`;
  const entry = { block: 'entry', name: 'Ann', stars: 5, color: 'red' };
  expect(await sign(url, entry)).toEqual({ ...entry, id: expect.any(String) });
  await expect(sign(url, { block: 'none' })).rejects.toThrow('BadRequestError: There is no block "none"');
});
