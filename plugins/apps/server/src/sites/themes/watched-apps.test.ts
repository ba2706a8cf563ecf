import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AppLocation, Site } from '../types';
import { createWatchedApps, DefinitionWords, type WatchedWord } from './watched-apps';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'apps-watched-'));
});
afterAll(() => rmSync(root, { recursive: true }));

const write = (app: string, file: string, text: string | Buffer) => {
  mkdirSync(join(root, app, file, '..'), { recursive: true });
  writeFileSync(join(root, app, file), text);
};

test.each<[what: string, file: string, text: string | Buffer, words: WatchedWord[]]>([
  ['a schedule', 'blocks/a.yaml', 'schedules: [{ run: f, cron: "* * * * *" }]', ['schedules']],
  ['a key as JSON', 'blocks/a.yml', '{"keep": "180 days"}', ['keep']],
  ['a block in a folder', 'blocks/deep/a.yaml', 'receipt: { to: mail, confirm: true }', ['confirm']],
  ['a waiting list', 'blocks/a.yaml', 'limit: 5\nwaiting_list: true', ['waiting_list']],
  ['an address of a person', 'blocks/a.yaml', 'elements: { a: { type: EMAIL, person: email } }', ['person']],
  ['none of them', 'blocks/a.yaml', 'elements: { text: TEXT }', []],
  ['a file that is no definition', 'blocks/a.js', '// schedules', []],
  ['an escape', 'blocks/a.yaml', '"sched\\u0075les": []', ['schedules', 'keep', 'confirm', 'waiting_list', 'person']],
  ['no UTF-8', 'blocks/a.yaml', Buffer.from([0xff]), ['schedules', 'keep', 'confirm', 'waiting_list', 'person']],
])('words of %s', async (what, file, text, words) => {
  const app = what.replaceAll(' ', '-');
  write(app, file, text);
  const found = new DefinitionWords();
  expect([...(await found.words(root, join(root, app)))]).toEqual(words);
  write(app, 'blocks/more.yaml', 'keep: 1 day');
  expect([...(await found.words(root, join(root, app)))].sort()).toEqual([...new Set([...words, 'keep'])].sort());
});

/** Apps whose words a test sets, and how often they were looked at. */
function appsOf(production: boolean) {
  const apps: Record<string, WatchedWord[]> = { a: ['keep'], b: [], c: ['confirm'] };
  const looks = { count: 0 };
  const watched = createWatchedApps({
    sites: async () => [{ id: 'site' } as Site],
    apps: async () => Object.keys(apps).map((id) => [id, { folder: id } as AppLocation]),
    async words({ folder }) {
      looks.count += 1;
      return new Set(apps[folder]);
    },
    production,
  });
  const ids = async (...words: WatchedWord[]) => (await watched(words)).map(({ appId }) => appId);
  return { apps, looks, ids };
}

test('gives the apps with one of the words; in production what was found counts for a time', async () => {
  const { apps, looks, ids } = appsOf(true);
  expect(await Promise.all([ids('keep'), ids('confirm'), ids('keep', 'confirm'), ids('schedules')])).toEqual([
    ['a'],
    ['c'],
    ['a', 'c'],
    [],
  ]);
  apps.b = ['keep'];
  expect(await ids('keep')).toEqual(['a']);
  expect(looks.count).toBe(3);
});

test('elsewhere a change is seen at once', async () => {
  const { apps, ids } = appsOf(false);
  expect(await ids('keep')).toEqual(['a']);
  apps.b = ['keep'];
  expect(await ids('keep')).toEqual(['a', 'b']);
});
