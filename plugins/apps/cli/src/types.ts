import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type App,
  type Block,
  builtInActions,
  itemSchema,
  type JsonSchema,
  loadApp,
  roleOf,
} from '../../server/src/apps';
import { sitesOfThemes } from '../../server/src/archive';
import { errorText } from '../../server/src/common/errors';
import { CannotRun, exitCodes, type RunCommand } from './command';
import { chosenTheme } from './themes';

/** The first line of a file of types: a file without it is not overwritten. */
export const HEADER = '// Written by `npx strapi-plugin-apps types`: run it again when a definition has changed.';

/** Types of an app's items, records and contexts, for the logic of its blocks (docs/reference/command-line.md#types-app). */
export function declarations(app: App): string {
  const taken = new Set(IMPORTED);
  const blocks = [...app.blocks.values()]
    .filter(({ error }) => error === null)
    .map((block) => ofBlock(block, nameOf(block.id, taken)));
  return [HEADER, `import type { ${IMPORTED.join(', ')} } from 'strapi-plugin-apps/context';`, ...blocks]
    .join('\n\n')
    .concat('\n');
}

const IMPORTED = ['AppRecord', 'Context'];

/** What the types of a block add to its name. */
const ENDINGS = ['Items', 'Record', 'Context', 'RecordContext', 'Element'];

/** A block's id as the begin of the names of its types: `show-votes` is `ShowVotes`; with a number where one of them is taken. */
function nameOf(id: string, taken: Set<string>): string {
  const words = id.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const wanted = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') || 'Block';
  const start = /^\d/.test(wanted) ? `Block${wanted}` : wanted;
  let name = start;
  const isTaken = () => ENDINGS.some((ending) => taken.has(name + ending));
  for (let count = 2; isTaken(); count += 1) name = `${start}${count}`;
  for (const ending of ENDINGS) taken.add(name + ending);
  return name;
}

function ofBlock({ id, definition }: Block, name: string): string {
  const elements = [...definition.elements.values()];
  const items = elements.flatMap((element) => {
    const schema = itemSchema(element);
    const note = element.label ? `  /** ${comment(element.label)} */\n` : '';
    return schema ? [`${note}  ${property(element.name)}: ${typeOf(schema)};`] : [];
  });
  const called = elements.filter((element) => !builtInActions.has(element.name) && roleOf(element) !== undefined);
  const names = called.map((element) => JSON.stringify(element.name)).join(' | ') || 'never';
  return `/** Items that the block "${id}" stores. */
export interface ${name}Items {
${['  block?: string;', ...items].join('\n')}
}

/** A record of the block "${id}". */
export type ${name}Record = AppRecord & Partial<${name}Items>;

/** The context of functions of the block "${id}"; without a record where none is shown. */
export interface ${name}Context extends Context {
  readonly record: ${name}Record | null;
}

/** The context of its \`on_save\`, \`on_delete\` and \`record_id\`. */
export interface ${name}RecordContext extends ${name}Context {
  readonly record: ${name}Record;
}

/** The elements of the block "${id}": a function of each name may be exported. */
export type ${name}Element = ${names};`;
}

const property = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

const comment = (text: string): string => text.replaceAll('*/', '* /').replace(/\s+/g, ' ');

/** The types of TypeScript for JSON Schema's, as far as elements have them. */
const types: Record<string, string> = { string: 'string', number: 'number', boolean: 'boolean', null: 'null' };

/** A TypeScript type for the schema of an element's values; `unknown` for any value. */
export function typeOf(schema: JsonSchema): string {
  const { const: one, enum: options, anyOf, type, items } = schema;
  if (one !== undefined) return JSON.stringify(one);
  if (Array.isArray(options)) return union(options.map((option) => JSON.stringify(option)));
  if (Array.isArray(anyOf)) return union((anyOf as JsonSchema[]).map(typeOf));
  if (type === 'array') return `(${typeOf((items ?? {}) as JsonSchema)})[]`;
  if (schema.properties !== undefined) return objectType(schema);
  const names = (Array.isArray(type) ? type : [type]).map((name) => types[String(name)]);
  return names.every((name) => name !== undefined) ? union(names as string[]) : 'unknown';
}

function objectType({ properties, required }: JsonSchema): string {
  const needed = new Set(required as string[] | undefined);
  const members = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, schema]) => `${property(name)}${needed.has(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  return `{ ${members.join('; ')} }`;
}

/** `"" | string` is `string`. */
function union(members: string[]): string {
  const distinct = [...new Set(members)];
  const all = distinct.includes('string') ? distinct.filter((member) => !member.startsWith('"')) : distinct;
  return all.join(' | ') || 'never';
}

/** Writes `app.d.ts` into the folders of apps, without a database (docs/reference/command-line.md#types-app). */
export const run: RunCommand = async ({ args, options, output, cwd, host: find }) => {
  const host = find();
  const [first, second] = (args.app ?? '').split('/');
  const wanted = second ?? first;
  const theme = chosenTheme(host, second === undefined ? (options.theme as string | undefined) : first);
  const reader = sitesOfThemes(host.config, [theme.id], output.note);
  const site = await reader.site(theme.id);
  if (!site) throw new CannotRun(`There is no theme "${theme.id}"`);
  // Of a linked app, the theme that holds it writes the types.
  const own = (await reader.apps(site)).filter((id) => existsSync(join(theme.apps, id))).sort();
  if (wanted && !own.includes(wanted)) throw new CannotRun(`There is no app "${wanted}" in the theme "${theme.id}"`);
  const written: string[] = [];
  const problems: string[] = [];
  for (const id of wanted ? [wanted] : own) {
    const folder = await reader.app(site, id);
    if (!folder) continue;
    const app = await loadApp(folder);
    for (const { error } of app.blocks.values()) if (error) problems.push(errorText(error, `${id}/`));
    written.push(write(join(theme.apps, id, 'app.d.ts'), app));
  }
  for (const file of written) output.line(`${output.paint('green', 'written')}  ${relative(cwd, file)}`);
  for (const problem of problems) output.note(`${output.paint('red', 'error:')} ${problem}: its types are left out`);
  output.data({ written, problems });
  return problems.length > 0 ? exitCodes.problems : exitCodes.fine;
};

function write(file: string, app: App): string {
  if (existsSync(file) && !readFileSync(file, 'utf8').startsWith(HEADER)) {
    throw new CannotRun(`${file} was not written by this command, and is not overwritten`, 'Move it, or delete it.');
  }
  writeFileSync(file, declarations(app));
  return file;
}
