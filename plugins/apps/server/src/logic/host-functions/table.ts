import { AppsError } from '../../common/errors';
import { appFunctions, blockFunctions } from './apps';
import { contentFunctions } from './content';
import { fetchFunctions, jobFunctions, mailFunctions, outputFunctions } from './output';
import { recordFunctions } from './records';
import { type Caller, type HostFunction, problemOf, type Schema, type Type } from './row';

const table = {
  ...recordFunctions,
  ...blockFunctions,
  ...appFunctions,
  ...contentFunctions,
  ...outputFunctions,
  ...mailFunctions,
  ...fetchFunctions,
  ...jobFunctions,
};

type Table = typeof table;
export type HostFunctionName = keyof Table;

/** The argument of a host function's handler: its checked arguments, or the result of its row's `prepare`. */
export type HostArguments<Name extends HostFunctionName> = Table[Name] extends {
  prepare?(caller: Caller, args: never): infer Given;
}
  ? Given
  : never;

export type HostResult<Name extends HostFunctionName> = Table[Name] extends { returns: Type<infer Result> }
  ? Result
  : never;

/** A result whose JSON is known, such as a stored record: logic gets this text. */
export class JsonText<Result> {
  declare readonly result: Result;
  constructor(readonly text: string) {}
}

/** What a handler of a host function gives. */
export type HostValue<Name extends HostFunctionName> = HostResult<Name> | JsonText<HostResult<Name>>;

/**
 * The handlers of all host functions, implemented by apps/ for one run of one block. Every handler may throw AppsError;
 * only its name and message reach the logic. The argument `app` is null for the run's own app, or the id given to
 * `get_app`.
 */
export type LogicHost = {
  [Name in HostFunctionName]: (args: HostArguments<Name>) => Promise<HostValue<Name>> | HostValue<Name>;
};

/**
 * All host functions by name: the only interface of the sandbox to the server (docs/reference/context.md).
 *
 * To add a host function: add its row here, with `forwards` if the preludes only pass its arguments on, and its handler in
 * apps/host-calls/. `npx vitest run plugins/apps/server/src/logic/host-functions -u` generates the types and the reference; a
 * method that does more in the sandbox is also written in `sandbox/src/prelude` and `sandbox/src/python/prelude`, and a test
 * fails when it is missing there.
 */
export const hostFunctions: Readonly<Record<HostFunctionName, HostFunction>> = table as never;

/** Checks the arguments and calls one host function; returns its result as JSON. BadRequestError for a wrong name or argument. */
export async function callHost(
  host: LogicHost,
  caller: Caller,
  name: string,
  given: Record<string, unknown>,
): Promise<string> {
  if (!Object.hasOwn(table, name)) {
    throw new AppsError('BadRequestError', 'the host function must be one that exists');
  }
  const { schema, prepare } = table[name as HostFunctionName] as unknown as HostFunction & { schema: Schema };
  const { data, error } = schema.safeParse(given);
  if (error) throw new AppsError('BadRequestError', problemOf(error));
  const args = prepare ? prepare(caller, data as never) : data;
  const handler = host[name as HostFunctionName] as (args: unknown) => unknown;
  const result = await handler(args);
  return result instanceof JsonText ? result.text : JSON.stringify(result ?? null);
}

const introduction = `/**
 * The methods of \`context\` that ask the server, by the interfaces of \`context.d.ts\` that have them. Made from the table of
 * host functions: \`npx vitest run plugins/apps/server/src/logic/host-functions -u\`.
 */
`;

/** Types of `context.d.ts` that declarations may use. */
const types = [
  'App',
  'AppRecord',
  'Content',
  'ContentItem',
  'Creator',
  'DeleteOptions',
  'Documents',
  'FetchAnswer',
  'FetchOptions',
  'Items',
  'JobOptions',
  'MailInput',
  'Places',
  'Request',
  'SaveOptions',
  'SearchOptions',
  'Value',
];

/** The text of `shared/context-calls.d.ts`. */
export function contextCalls(): string {
  const interfaces = [...membersByInterface()].map(
    ([name, members]) => `export interface ${name}Calls {\n${members.map(indented).join('\n')}\n}\n`,
  );
  const body = interfaces.join('\n');
  const used = types.filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  return `${introduction}import type {\n${used.map((name) => `  ${name},`).join('\n')}\n} from './context';\n\n${body}`;
}

/** Names of the methods that the table adds to an interface of `context.d.ts`. */
export function methodsOf(interfaceName: string): string[] {
  const declarations = Object.values(hostFunctions).flatMap(({ types }) => types?.[interfaceName] ?? []);
  const names = declarations.map((text) => /^(?:\/\*\*.*?\*\/\s*)?(?:readonly )?(\w+)/s.exec(text)?.[1] ?? '');
  return [...new Set(names)];
}

/** Declarations, with the row's text above the first of each row. */
function membersByInterface(): Map<string, string[]> {
  const members = new Map<string, string[]>();
  for (const { doc, details, types = {} } of Object.values(hostFunctions)) {
    const comment = details === undefined ? `/** ${doc} */` : `/**\n * ${doc}\n * ${details}\n */`;
    for (const [name, declarations] of Object.entries(types)) {
      const text = `${comment}\n${declarations.map((declaration) => `${declaration};`).join('\n')}`;
      members.set(name, [...(members.get(name) ?? []), text]);
    }
  }
  return members;
}

/** Further lines of a declaration are indented already. */
function indented(text: string): string {
  return text.replace(/^(?! {2})/gm, '  ');
}
