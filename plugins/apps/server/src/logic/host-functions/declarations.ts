import { hostFunctions } from './table';

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
