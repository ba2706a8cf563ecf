import type { HostFunction } from './row';
import { hostFunctions } from './table';

const introduction = `# What logic may ask of the server

Made from the table of host functions (\`npx vitest run plugins/apps/server/src/logic/host-functions -u\`): there is no other way
out of the sandbox. \`app\` is \`context.app\`, and so on. What is asked is checked before anything is done; a wrong argument is
a \`BadRequestError\` that logic can catch. How it all is used: [logic](logic.md).
`;

/** The reference page of `context`, as Markdown. */
export function contextReference(): string {
  return [introduction, ...hostFunctions.map(section)].join('\n');
}

function section({ name, doc, written: [javascript, python], args }: HostFunction): string {
  const rows = Object.entries(args).map(([key, { about }]) => `| \`${key}\` | ${about} |`);
  return [
    `## ${name}`,
    '',
    doc,
    '',
    `- JavaScript, TypeScript: \`${javascript}\``,
    `- Python: \`${python}\``,
    '',
    '| Argument | |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}
