import { join } from 'node:path';
import { relativePath, schemasFolder } from '../../../server/src/package-files';
import type { Host } from '../host';

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Settings of Visual Studio Code: the YAML schemas of theme files, and the extensions that use them. */
export function editorFiles(root: string, { themes, config }: Host): Map<string, string> {
  const schemas = relativePath(root, schemasFolder(root));
  const below = relativePath(root, themes).replace(/^\.\//, '');
  const theme = below.startsWith('..') ? `**/*` : `${below}/*`;
  const app = `${theme}/${config.appsFolder}/*`;
  const settings = {
    'yaml.schemas': {
      [`${schemas}/definition.json`]: `${app}/blocks/*.{yaml,yml}`,
      [`${schemas}/settings.json`]: `${app}/settings.yaml`,
      [`${schemas}/theme.json`]: `${theme}/theme.yaml`,
      [`${schemas}/rules.json`]: `${theme}/rules.yaml`,
    },
  };
  const extensions = { recommendations: ['redhat.vscode-yaml', 'sissel.shopify-liquid'] };
  return new Map([
    [join(root, '.vscode', 'settings.json'), json(settings)],
    [join(root, '.vscode', 'extensions.json'), json(extensions)],
  ]);
}
