import type { ThemeFile } from '../../sites';
import { caption, flag, mapping } from '../yaml/schema';
import { readYaml } from '../yaml/yaml';

/** Keys of theme.yaml (docs/reference/theme.md). */
export const themeFile = mapping({ title: caption, description: caption, rapido: flag });

/** Content of theme.yaml; `rapido`: the apps were made for Rapido (docs/coming-from-rapido.md). */
export interface ThemeInfo {
  title?: string;
  description?: string;
  rapido?: boolean;
}

/**
 * Reads a theme's theme.yaml (docs/reference/theme.md#themeyaml): all keys are optional. DefinitionError for a
 * broken file.
 */
export function readThemeInfo(file: ThemeFile): ThemeInfo {
  const root = readYaml(file);
  return root.value === null ? {} : themeFile(root);
}
