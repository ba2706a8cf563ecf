import { z } from 'zod';
import type { ThemeFile } from '../../sites';
import { check } from '../yaml/check';
import { caption, flag, mapping } from '../yaml/schema';
import { readYaml } from '../yaml/yaml';

const notSeconds = { error: 'This must be a whole number of seconds from 1 to 86400' };

/** Keys of theme.yaml (docs/reference/theme.md). */
export const themeFile = mapping({
  title: caption,
  description: caption,
  rapido: flag,
  s_maxage: check<number>(z.int(notSeconds).min(1, notSeconds).max(86_400, notSeconds)),
});

/**
 * Content of theme.yaml. `rapido`: the apps were made for Rapido (docs/coming-from-rapido.md); `s_maxage`: seconds for which a proxy may
 * keep pages of the site.
 */
export interface ThemeInfo {
  title?: string;
  description?: string;
  rapido?: boolean;
  s_maxage?: number;
}

/**
 * Reads a theme's theme.yaml (docs/reference/theme.md#themeyaml): all keys are optional. DefinitionError for a
 * broken file.
 */
export function readThemeInfo(file: ThemeFile): ThemeInfo {
  const root = readYaml(file);
  return root.value === null ? {} : themeFile(root);
}
