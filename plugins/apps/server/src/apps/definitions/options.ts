import type { Items, Json } from '../../../../shared/json';
import { isMapping } from '../yaml/schema';

/**
 * The options of an app (docs/reference/theme.md#options): those of its settings.yaml, and what an administrator has set for
 * the site instead. Mappings are merged key by key; any other value, null and lists too, replaces the file's.
 */
export function mergedOptions(file: Items, override: Items): Items {
  const entries = Object.entries(override).map(([key, value]): [string, Json] => {
    const given = Object.hasOwn(file, key) ? (file[key] as Json) : null;
    return [key, isMapping(value) && isMapping(given) ? mergedOptions(given, value) : value];
  });
  return Object.fromEntries([...Object.entries(file), ...entries]);
}
