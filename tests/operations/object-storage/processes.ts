import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { formBody, type Part } from '../../forms/files/send';
import { pagesApp } from '../../forms/pages/app';
import { fieldsOf } from '../../forms/pages/fields-of';
import { privateApps } from '../../forms/private/apps';
import type { Items } from '../../forms/private/tools';
import { configured } from '../../support/configure';
import type { Client } from '../../support/databases';
import { useDatabase, useFolder, useStage, useThemes, useTwin } from '../../support/hooks';
import type { Host } from '../../support/host';
import { type Message, send } from '../../support/send';
import { html, startTwin } from '../../support/stage';
import { type ObjectStore, objectStore } from './s3-server';

/** Headers of a form with files. */
export const form = { 'content-type': 'multipart/form-data; boundary=b' };

/** Names of the files in a folder and below it. */
export async function filesIn(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return all.filter((one) => one.isFile()).map(({ name }) => name);
}

/** Two processes that share a database and an object store, but no disk. */
export function useProcesses(
  client: Client,
  config: (store: ObjectStore, folder: string) => { apps: object; upload: object },
) {
  let store: ObjectStore | undefined;
  beforeAll(async () => {
    store = await objectStore(['pictures', 'records']);
  });
  afterAll(() => store?.destroy());
  const folder = useFolder('objects');
  const themes = useThemes(async (copy) => {
    await privateApps(copy);
    for (const [file, text] of Object.entries(pagesApp)) await copy.write(`main/${file}`, text);
  });
  const database = useDatabase(client);
  const options = (name: string, { clockAhead, apps: changed }: { clockAhead?: number; apps?: object } = {}) => {
    const { apps, upload } = config(store as ObjectStore, folder(name));
    const folders = { filesDirectory: folder(name, 'kept'), temporaryDirectory: folder(name, 'held') };
    const env = {
      ...database().address.env,
      ...configured({ apps: { ...folders, ...apps, ...changed }, upload, clockAhead }),
    };
    return { themesDirectory: themes.directory, env };
  };
  const stage = useStage(() => options('one'));
  const twin = useTwin(stage, () => options('two'));

  const ask = async <T = Items>(
    host: Host,
    who: string,
    message: Pick<Message, 'method' | 'path'> & Partial<Message>,
  ) =>
    send<T>(host.url, {
      as: await stage.credential(who),
      ...message,
      headers: { accept: 'application/json', 'x-csrf-token': await stage.csrf(who), ...message.headers },
    });
  const read = (host: Host, who: string, url: string, headers = {}, method = 'GET') =>
    ask(host, who, { method, path: url.replace(/^https?:\/\/[^/]+/, ''), headers: { accept: '*/*', ...headers } });
  const made = async (host: Host, parts: Part[]) => {
    const body = formBody([...parts, { name: '_save', content: '1' }]);
    const path = '/site/@@apps/cv/blocks/apply';
    const { status, text, json } = await ask<{ id: string }>(host, 'una', {
      method: 'POST',
      path,
      headers: form,
      body,
    });
    expect(status, text).toBe(201);
    const { json: items } = await ask(host, 'mona', { method: 'GET', path: `/site/@@apps/cv/record/${json.id}` });
    return { id: json.id, items };
  };
  const remove = (host: Host, id: string) =>
    ask(host, 'mona', { method: 'DELETE', path: `/site/@@apps/cv/record/${id}` });

  /** Presses a button of a page of the form with pages; a file is sent in its field. */
  const press = (host: Host, shown: { text: string }, more: Record<string, string>, button: string, file?: Part) => {
    const fields = Object.entries({ ...fieldsOf(shown.text), ...more, [button]: '1' });
    const texts = fields.flatMap(([name, value]) => [value].flat().map((content) => ({ name, content })));
    const body = formBody(file ? [...texts, file] : texts);
    const path = '/site/@@apps/steps/blocks/apply';
    return ask(host, 'una', { method: 'POST', path, headers: { accept: html, ...form }, body });
  };
  /** A form of which a file was sent: its last page, as the process has answered it. */
  const lastPage = async (host: Host, file: Part) => {
    const first = await ask(host, 'una', {
      method: 'GET',
      path: '/site/@@apps/steps/blocks/apply',
      headers: { accept: html },
    });
    const second = await press(host, first, { name: 'Ann', kind: 'company' }, '_next');
    return press(host, second, { vat: '7' }, '_next', file);
  };

  const names = async (bucket: string) => (await (store as ObjectStore).names(bucket)).sort();
  /** What the processes have on their own disks. */
  const onDisk = async () => {
    const folders = ['one', 'two'].flatMap((name) => ['kept', 'held'].map((part) => folder(name, part)));
    return (await Promise.all(folders.map(filesIn))).flat();
  };
  return {
    stage,
    twin,
    folder,
    ask,
    read,
    made,
    remove,
    press,
    lastPage,
    names,
    onDisk,
    /** A process whose clock is ahead. */
    later: (clockAhead: number) => startTwin(stage, options('later', { clockAhead })),
    /** A process with other keys of the plugin's configuration. */
    other: (apps: object) => startTwin(stage, options('other', { apps })),
    store: () => store as ObjectStore,
  };
}

export type Processes = ReturnType<typeof useProcesses>;
