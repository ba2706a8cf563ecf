import { z } from 'zod';
import type { Json } from '../../../../shared/json';
import { methods } from '../documents/methods';
import type { Forwarding, HostFunction, Permission } from './row';
import { hostFunctions } from './table';

/**
 * Generates the parts of the sandbox's preludes that follow from the table of host functions. Runs when the sandbox is built
 * (`sandbox/build.mjs`), so that isolates contain neither the texts of the table nor its schemas.
 */

type Forwarded = HostFunction & { name: string; forwards: Forwarding };

const rows = Object.entries(hostFunctions).map(([name, row]) => ({ name, ...row }));
const unflushed = rows.filter(({ flushes }) => flushes === false).map(({ name }) => name);
const forwarded = (of: Forwarding['of']) => rows.filter((row): row is Forwarded => row.forwards?.of === of);

/** Arguments that identify the app or record, which the object itself provides. */
const ofObject = { app: ['app'], record: ['app', 'id'] };

const ownArguments = ({ args, forwards }: Forwarded) =>
  Object.entries(args).filter(([name]) => !ofObject[forwards.of].includes(name));

/** The module `apps:host-functions` of JavaScript's prelude; its types are in `sandbox/src/inside.d.ts`. */
export function javascriptModule(): string {
  const exported = {
    unflushed,
    documentMethods: Object.keys(methods),
    appMethods: forwarded('app').map(javascriptMethod),
    recordMethods: forwarded('record').map(javascriptMethod),
  };
  return Object.entries(exported)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join('');
}

function javascriptMethod(row: Forwarded): Json {
  const { method, positional } = row.forwards;
  const names = ownArguments(row).map(([name]) => name);
  const defaults = ownArguments(row).map(([, schema]) => defaultOf(schema));
  return { name: row.name, method, positional: [...positional], names, defaults };
}

/** The value of a missing argument. A required one is null too, which its schema refuses. */
function defaultOf(schema: z.ZodType): Json {
  return schema instanceof z.ZodBoolean ? false : null;
}

/** The beginning of Python's prelude (`apps:python-calls`). */
export function pythonModule(): string {
  return [
    `_UNFLUSHED = ${tuple(unflushed)}`,
    `_DOCUMENT_METHODS = ${tuple(Object.keys(methods))}`,
    pythonClass('_AppCalls', forwarded('app')),
    pythonClass('_RecordCalls', forwarded('record')),
  ].join('\n\n');
}

const tuple = (names: readonly string[]) => `(${names.map((name) => `'${name}',`).join(' ')})`;

function pythonClass(name: string, methods: readonly Forwarded[]): string {
  return [`class ${name}:`, '    pass', ...methods.map(pythonMethod)].join('\n');
}

/** Declared with the parameters of the row's `written`, which have the names of the arguments. */
function pythonMethod(row: Forwarded): string {
  const [, parameters = ''] = /\((.*)\)$/.exec(row.written[1]) ?? [];
  const given = ownArguments(row).map(([name, schema]) =>
    schema instanceof z.ZodBoolean ? `${name}=bool(${name})` : `${name}=${name}`,
  );
  const owner = row.forwards.of === 'app' ? ['app=self._key'] : ['app=state.app', 'id=state.id'];
  return [
    '',
    `    def ${row.forwards.method}(${['self', ...(parameters === '' ? [] : [parameters])].join(', ')}):`,
    ...(row.forwards.of === 'app' ? [] : ['        state = self._state.writable()']),
    `        return _call(${[`'${row.name}'`, ...owner, ...given].join(', ')})`,
  ].join('\n');
}

const introduction = `# What logic may ask of the server

These functions are the only way out of the sandbox. \`app\` is \`context.app\`, and so on. Arguments are checked before anything is
done; a wrong argument is a \`BadRequestError\` that logic can catch. How it all is used: [logic](logic.md).
`;

/** Descriptions of permissions; see `Permission`. */
const needs: Record<Permission, string | null> = {
  none: null,
  view: 'in another app, the right to see records',
  create: 'a request that may write; in another app, the right to add records',
  edit: 'a request that may write; in another app, the right to change the record',
  delete: 'a request that may write; in another app, the right to delete the record',
  manager: 'a request that may write, of a manager of the app',
  block: "the block's `view_permission`",
  content: "the requester's permissions in Strapi",
  'content-change': "the requester's permissions in Strapi; GET, HEAD and OPTIONS requests cannot change content",
};

/** The reference page of `context`, as Markdown. */
export function contextReference(): string {
  return [introduction, ...Object.entries(hostFunctions).map(([name, row]) => section(name, row))].join('\n');
}

function section(
  name: string,
  { doc, details, written: [javascript, python], permission, args }: HostFunction,
): string {
  const rows = Object.entries(args).map(([key, { description }]) => `| \`${key}\` | ${description} |`);
  const needed = needs[permission];
  return [
    `## ${name}`,
    '',
    details === undefined ? doc : `${doc} ${details}`,
    '',
    `- JavaScript, TypeScript: \`${javascript}\``,
    `- Python: \`${python}\``,
    ...(needed === null ? [] : [`- Needs: ${needed}`]),
    '',
    '| Argument | Means |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}
