import type { ThemeFile } from '../sites';
import { readYaml } from './yaml';
import { caption, flag, mapping } from './yaml-schema';

const schema = mapping({ title: caption, description: caption, rapido: flag });

/** What a theme says about itself; `rapido`: its apps were made for Rapido (docs/coming-from-rapido.md). */
export interface ThemeInfo {
  title?: string;
  description?: string;
  rapido?: boolean;
}

/** Reads a theme's theme.yaml (contract, section 2): all keys are optional. DefinitionError if it is broken. */
export function readThemeInfo(file: ThemeFile): ThemeInfo {
  const root = readYaml(file);
  return root.value === null ? {} : schema(root);
}
