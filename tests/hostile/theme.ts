import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const folder = path.join(__dirname, '..', 'fixtures', 'hostile');

/** One file of the corpus: its first line says what it may come to (`// expect 500 504`, `// expect 200 ^"text"$`). */
export interface Hostile {
  /** Also the id of its block. */
  name: string;
  file: string;
  text: string;
  statuses: number[];
  /** What the body of a 200 looks like. */
  body: RegExp;
}

export async function readCorpus(): Promise<Hostile[]> {
  const files = (await readdir(folder)).filter((file) => /\.(js|ts|py)$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(path.join(folder, file), 'utf8');
      const [, expected] = /^(?:\/\/|#) expect (.+)$/m.exec(text) ?? [];
      if (!expected) throw new Error(`${file} does not say what to expect`);
      const [statuses, body] = expected.split(/ (?=\^)/);
      const name = path.parse(file).name;
      return { name, file, text, statuses: statuses.split(' ').map(Number), body: new RegExp(body ?? '', 's') };
    }),
  );
}

const healthy = {
  'healthy.js': 'export function f(context) { return [context.app.id, context.app.count() >= 0]; }\n',
  'healthy-python.py': 'def f(context):\n    return [context.app.id, context.app.count() >= 0]\n',
  'state.js': `export function f(context) {
  const left = ['kept', 'alsoKept', 'out'].filter((name) => name in globalThis);
  return [left, typeof {}.polluted, [1].map((one) => one + 1), JSON.stringify({ a: 1 }), typeof context.app.id];
}\n`,
  'state-python.py': `def f(context):
    names = context.app.log.__globals__
    return ['left' in names, hasattr(names['Record'], 'left'), len([]), context.modules.json.dumps([1])]\n`,
};

/** A theme of the corpus, each file a block of the app `hostile`, and of blocks that do nothing wrong. */
export async function writeTheme(corpus: readonly Hostile[]): Promise<{ directory: string; dispose(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'apps-hostile-'));
  const app = path.join(directory, 'main', 'apps', 'hostile');
  for (const sub of ['blocks', 'lib']) await mkdir(path.join(app, sub), { recursive: true });
  await writeFile(path.join(directory, 'main', 'theme.yaml'), 'title: Hostile\n');
  await writeFile(path.join(app, 'settings.yaml'), "acl:\n  rights:\n    editor: ['*']\n");
  await writeFile(path.join(app, 'lib', 'spin.js'), 'export function spin() {\n  for (;;);\n}\n');
  const files = { ...healthy, ...Object.fromEntries(corpus.map(({ file, text }) => [file, text])) };
  for (const [file, text] of Object.entries(files)) {
    await writeFile(path.join(app, 'blocks', file), text);
    await writeFile(path.join(app, 'blocks', `${path.parse(file).name}.yaml`), 'elements:\n  f: BASIC\n');
  }
  return { directory, dispose: () => rm(directory, { recursive: true, force: true }) };
}
