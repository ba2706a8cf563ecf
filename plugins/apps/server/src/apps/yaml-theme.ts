import type { ThemeFile } from '../sites';
import { readYaml } from './yaml';
import { caption, mapping } from './yaml-schema';

const schema = mapping({ title: caption, description: caption });

/** Reads a theme's theme.yaml (contract, section 2): both keys are optional. DefinitionError if it is broken. */
export function readThemeInfo(file: ThemeFile): { title?: string; description?: string } {
  const root = readYaml(file);
  return root.value === null ? {} : schema(root);
}
