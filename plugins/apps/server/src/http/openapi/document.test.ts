import { expect, test } from 'vitest';
import { loadApp } from '../../apps';
import type { Site, Sites } from '../../sites/types';
import { routes } from '../app/routes';
import { appDocument } from './document';

const site: Site = {
  id: 'site',
  title: 'Site',
  url: 'http://localhost/site',
  theme: 'basic',
  locale: null,
  timeZone: null,
};
const sites = { urls: { app: (_: Site, app: string) => `${site.url}/@@apps/${app}` } } as Sites;

/** The path in the document of each address below an app. */
const paths: Record<keyof typeof routes, string> = {
  root: '/a',
  records: '/a/records',
  'records.csv': '/a/records.csv',
  'records.xlsx': '/a/records.xlsx',
  search: '/a/search',
  'search.csv': '/a/search.csv',
  'search.xlsx': '/a/search.xlsx',
  refresh: '/a/refresh',
  openapi: '/a/openapi.json',
  record: '/a/record/{record_id}',
  history: '/a/history/{record_id}',
  file: '/a/files/{file_id}/{name}',
  mine: '/a/mine/{token}',
  draft: '/a/draft/{token}',
  confirm: '/a/confirm/{token}',
  unsubscribe: '/a/unsubscribe/{token}',
  block: '/a/blocks/b',
  element: '/a/blocks/b/e',
};

async function document(files: Record<string, string>) {
  const app = await loadApp({
    site,
    appId: 'a',
    themeId: 'basic',
    revision: '1',
    settings: { path: 'settings.yaml', text: 'history: true\n' },
    theme: null,
    themeFiles: new Map(),
    options: null,
    files: new Map(Object.entries(files).map(([path, text]) => [path, { path, text }])),
  });
  return appDocument({ sites }, site, app) as unknown as Record<
    'paths' | 'components',
    Record<string, Record<string, unknown>>
  >;
}

test('the document has the methods of every route', async () => {
  const made = await document({
    'blocks/b.yaml':
      'self_service: [edit]\ndrafts: true\nreceipt: {to: m, confirm: true}\nelements: {e: BASIC, m: EMAIL}',
    'blocks/b.html': '',
  });
  const methods = Object.entries(paths).map(([kind, path]) => [
    kind,
    Object.keys(made.paths[path] ?? {})
      .filter((name) => name !== 'parameters')
      .sort(),
  ]);
  const served = Object.entries(routes).map(([kind, row]) => [
    kind,
    Object.keys(row)
      .map((method) => method.toLowerCase())
      .sort(),
  ]);
  expect(methods).toEqual(served);
  const address = '/a/blocks/b/m';
  expect(Object.keys(made.paths).sort()).toEqual([...Object.values(paths), address].sort());
});

test('names that would be equal get numbers', async () => {
  const made = await document({ 'blocks/b.c.yaml': 'elements: {d: BASIC}', 'blocks/b.yaml': 'elements: {c.d: BASIC}' });
  const names = Object.values(made.paths).flatMap((methods) => Object.values(methods) as { operationId?: string }[]);
  expect(names.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(['a.b.c.d', 'a.b.c.d.2']));
});
