import { join } from 'node:path';
import { filesBelow, foldersOf, withSchemaLine } from './package-files';

/** Files by absolute path, as they are wanted. */
export type TemplateFiles = ReadonlyMap<string, string>;

/** Languages of logic, with the ending of their files. */
export const languages: Record<string, string> = { js: 'js', ts: 'ts', python: 'py' };

/** The files of a new block: layout, definition, and logic in one language. */
export function blockFiles(app: string, block: string, language: string): TemplateFiles {
  const logic = `block.${languages[language]}`;
  const templates = [...filesBelow('block-templates')].filter(
    ([name]) => /\.(html|yaml)$/.test(name) || name === logic,
  );
  return new Map(
    templates.map(([name, text]) => {
      const path = `blocks/${name.replace('block', block)}`;
      return [join(app, path), withSchemaLine(join(app, path), path, text)];
    }),
  );
}

const SETTINGS = `# Pages of the app stand in the theme's layout.
with_theme: true
# Records belong to blocks: who sends one sends the fields that its block declares, and nothing else.
strict: true
# Mistakes are explained in the page. Take it out when the app is done.
debug: true
# Who may read and write records: names of users, or of roles of the users-permissions plugin; '*' is everyone.
acl:
  rights:
    reader: ['*']
    editor: []
`;

/** The templates of apps. */
export const appTemplates = (): string[] => foldersOf('app-templates');

/** The files of a new app: a template's, or settings and one block. @param folder absolute path of the app's folder */
export function appFiles(folder: string, id: string, template: string | undefined): TemplateFiles {
  const files = template === undefined ? new Map([['settings.yaml', SETTINGS]]) : filesBelow('app-templates', template);
  const made = new Map(
    [...files].map(([path, text]) => [join(folder, path), withSchemaLine(join(folder, path), path, text)] as const),
  );
  return template === undefined ? new Map([...made, ...blockFiles(folder, id, 'js')]) : made;
}

/** The blocks of templates that are their apps' pages, where they do not have the template's name. */
const pages: Record<string, string> = { rating: 'top' };

/** Where a theme's layout wants the links of new apps: the starter has this line. */
const linksAbove =
  /^([ \t]*)\{% comment %\} `strapi-plugin-apps new app` adds a link above this line\. \{% endcomment %\}/m;

/** The layout of a theme with a link to a new app; null where it has no place for links. */
export function linkedLayout(layout: string, id: string, template: string | undefined): string | null {
  const [line, indent = ''] = linksAbove.exec(layout) ?? [];
  if (line === undefined) return null;
  const block = template === undefined ? id : (pages[template] ?? template);
  const link = `<a href="{{ context.portal.url }}/@@apps/${id}/blocks/${block}">${readable(id)}</a>`;
  return layout.replace(line, () => `${indent}${link}\n${line}`);
}

/** An id as words: `idea-box` is "Idea box". */
function readable(id: string): string {
  const words = id.replace(/[-_.]+/g, ' ').trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
