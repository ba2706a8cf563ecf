import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { calls } from './calls';
import type { Case } from './case';
import { contentCalls } from './content-calls';
import { definitions } from './definitions';
import { depth } from './depth';
import { layouts } from './layouts';
import { memories } from './memory';
import { marks, python } from './python';
import { imports, reach } from './reach';
import { results } from './results';
import { time } from './time';

const folder = path.join(__dirname, '..', '..', 'fixtures', 'hostile');

/** The fixtures: the line `// expect 500 504` or `// expect 200 ^"text"$` of each names the allowed answers. */
async function readFixtures(): Promise<Case[]> {
  const files = (await readdir(folder)).filter((file) => /\.(js|py)$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const { name, ext } = path.parse(file);
      const text = await readFile(path.join(folder, file), 'utf8');
      const [, expected] = /^(?:\/\/|#) expect (.+)$/m.exec(text) ?? [];
      if (!expected) throw new Error(`${file} does not say what to expect`);
      const [statuses = '', body] = expected.split(/ (?=\^)/);
      const status = statuses.split(' ').map(Number);
      return { name, [ext.slice(1)]: text, status, ...(body ? { has: new RegExp(body, 's') } : {}) };
    }),
  );
}

/** Every attack except those of `regressions`. */
export async function readCorpus(): Promise<Case[]> {
  const tables = [
    time,
    memories,
    depth,
    results,
    reach,
    imports,
    calls,
    contentCalls,
    python,
    marks,
    layouts,
    definitions,
  ];
  const all = [...(await readFixtures()), ...tables.flat()];
  const twice = all.find(({ name }, index) => all.findIndex((other) => other.name === name) < index);
  if (twice) throw new Error(`Two cases are called ${twice.name}`);
  return all;
}
