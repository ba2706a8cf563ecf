import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * What the panel takes of Strapi's. The oldest Strapi that the plugin supports exports all of these; a name that it does not
 * export breaks its whole admin panel. `npm run test:package` opens the panel there: run it after adding a name.
 */
const checked = [
  ...['ConfirmDialog', 'Layouts', 'Page', 'Pagination', 'Table'],
  ...[
    'adminApi',
    'useAPIErrorHandler',
    'useAuth',
    'useFetchClient',
    'useField',
    'useNotification',
    'useQueryParams',
    'useTable',
  ],
];

test('the panel uses only what the oldest Strapi exports', () => {
  const folder = __dirname;
  const names = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/(?<!\.test)\.tsx?$/.test(file)) continue;
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, list = ''] of text.matchAll(/^import \{([^}]*)\} from '@strapi\/strapi\/admin'/gm))
      for (const name of list.split(',').map((one) => one.trim()))
        if (name && !name.startsWith('type ')) names.add(name);
  }
  expect([...names].sort()).toEqual(checked);
});
