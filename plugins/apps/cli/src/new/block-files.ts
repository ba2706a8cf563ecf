import { join } from 'node:path';
import { filesBelow, withSchemaLine } from '../package-files';
import type { Files } from '../write';

/** Languages of logic, with the ending of their files. */
export const languages: Record<string, string> = { js: 'js', ts: 'ts', python: 'py' };

/** The files of a new block: layout, definition, and logic in one language. */
export function blockFiles(app: string, block: string, language: string): Files {
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
