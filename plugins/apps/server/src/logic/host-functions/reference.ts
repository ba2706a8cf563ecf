import type { HostFunction, Permission } from './row';
import { hostFunctions } from './table';

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
