import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeFiles } from '../support/files';
import type { Case } from './cases/case';

const healthy: readonly Case[] = [
  {
    name: 'healthy',
    js: 'export function f(context) { return [context.app.id, context.app.count() >= 0]; }\n',
    status: 200,
  },
  {
    name: 'healthy-python',
    py: 'def f(context):\n    return [context.app.id, context.app.count() >= 0]\n',
    status: 200,
  },
  {
    name: 'state',
    js: `export function f(context) {
      const left = ['kept', 'alsoKept', 'out'].filter((name) => name in globalThis);
      const parts = [JSON, RegExp, Promise.prototype, context.app, Object.getPrototypeOf(context.app)];
      const changed = parts.some((part) => 'left' in part) || Date.now() < 1e12 || Math.random() === Math.random();
      return [left, changed, typeof {}.polluted, [1].map((one) => one + 1), JSON.stringify({ a: 1 }), typeof context.app.id];
    }`,
    status: 200,
  },
  {
    name: 'state-python',
    py: `import json, time, collections
def f(context):
    names = context.app.log.__globals__
    left = ['left' in names, 'left' in names['_MODULES'], hasattr(collections, 'left')]
    left += [hasattr(names[name], 'left') for name in ('Record', 'Context', '_bridge')]
    return [left, len([]), context.modules.json.dumps([1]), json.dumps([1]), time.time() > 1e9, str(5)]
`,
    status: 200,
  },
];

/** Characters of a definition from which on its case is an app by itself: all definitions of an app share one bound. */
const largeDefinition = 16_384;

/** The app that a case is a block of. */
export const appOf = ({ name, definition = '' }: Pick<Case, 'name' | 'definition'>): string =>
  definition.length < largeDefinition ? 'hostile' : name;

// With debug, so that answers have whole messages, in which a leak would show.
const settings = "debug: true\nacl:\n  rights:\n    editor: ['*']\n";

/** Writes attacks as blocks of their apps. */
async function writeCases(apps: string, cases: readonly Case[]): Promise<void> {
  for (const one of cases) {
    const app = path.join(apps, appOf(one));
    await writeFiles(app, { 'settings.yaml': settings });
    await writeBlocks(app, [one]);
  }
}

async function writeBlocks(app: string, cases: readonly Case[]): Promise<void> {
  for (const { name, js, py, definition, layout } of cases) {
    const files = { js, py, html: layout, yaml: definition ?? 'elements:\n  f: BASIC\n' };
    for (const [ending, text] of Object.entries(files))
      if (text !== undefined) await writeFiles(app, { [`blocks/${name}.${ending}`]: text });
  }
}

export interface HostileTheme {
  directory: string;
  add(cases: readonly Case[]): Promise<void>;
  dispose(): Promise<void>;
}

/**
 * A theme of the corpus, each case a block of the app `hostile`, and of blocks that do nothing wrong; with an app that
 * visitors may not use, `other`, one that has the view `popular`, and a file outside of the themes to which symbolic links lead.
 */
export async function writeTheme(corpus: readonly Case[]): Promise<HostileTheme> {
  const root = await mkdtemp(path.join(tmpdir(), 'apps-hostile-'));
  const directory = path.join(root, 'themes');
  const app = path.join(directory, 'main', 'apps', 'hostile');
  const other = path.join(directory, 'main', 'apps', 'other');
  await writeFiles(root, {
    'themes/main/theme.yaml': 'title: Hostile\n',
    'themes/main/apps/hostile/lib/spin.js': 'export function spin() {\n  for (;;);\n}\n',
    'themes/main/apps/hostile/lib/one.js':
      "import { two } from './two';\nexport const one = () => ['one', two()].join(' ');\n",
    'themes/main/apps/hostile/lib/two.js':
      "import { one } from './one';\nexport const two = () => (typeof one === 'function' ? 'two' : 'none');\n",
    'themes/main/apps/other/settings.yaml': "acl:\n  rights:\n    editor: ['editors']\n",
    'themes/main/apps/other/lib/rights.js': "export default 'leaked';\n",
    'themes/main/apps/visited/settings.yaml': "acl:\n  rights:\n    reader: ['*']\n",
    'outside.json': '{"leaked": true}',
  });
  await symlink(path.join(root, 'outside.json'), path.join(app, 'lib', 'link.json'));
  await symlink(root, path.join(app, 'lib', 'linked'));
  await writeBlocks(other, [{ name: 'open', js: "export const f = () => 'leaked';", status: 200 }]);
  await writeBlocks(path.join(directory, 'main', 'apps', 'visited'), [
    {
      name: 'popular',
      definition: 'view: { id: popular, with_theme: true }\nelements:\n  f: BASIC\n',
      js: "export const f = () => 'honest';",
      layout: '<p>{f}</p>',
      status: 200,
    },
  ]);
  const apps = path.dirname(app);
  await writeCases(apps, [...healthy, ...corpus]);
  return {
    directory,
    add: (cases) => writeCases(apps, cases),
    dispose: () => rm(root, { recursive: true, force: true }),
  };
}
