import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';

const MB = 1024 * 1024;

/** The size of the file, and the memory that the server may need more than for a small one. */
const [SIZE, MOST] = [500, 64];

/** A large file of a form is a stream from the connection to the media library. */
const themes = useThemes({
  'main/apps/large/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
  'main/apps/large/blocks/form.yaml': `elements: { file: { type: FILE, max_size: ${SIZE + 1} MB } }\n`,
  'main/apps/large/blocks/form.html': '{file}{_save}',
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({ apps: { limits: { uploadSize: (SIZE + 10) * MB } } }),
}));

/** A form with a text file of this many megabytes, made while it is sent. */
function* form(megabytes: number): Generator<Uint8Array> {
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="large.txt"\r\n\r\n');
  const piece = Buffer.alloc(MB, 'A line of a large text file.\n');
  for (let sent = 0; sent < megabytes; sent += 1) yield piece;
  yield Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="_save"\r\n\r\n1\r\n--b--\r\n');
}

async function post(megabytes: number): Promise<string> {
  const answer = await fetch(`${stage.host.url}/site/@@apps/large/blocks/form`, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'multipart/form-data; boundary=b',
      'x-csrf-token': await stage.csrf('anonymous'),
    },
    body: Readable.toWeb(Readable.from(form(megabytes))),
    duplex: 'half',
  } as RequestInit);
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  return (JSON.parse(text) as { id: string }).id;
}

type Watched = typeof globalThis & { most: number; watch: NodeJS.Timeout };

/** Megabytes of memory that the server has at most while a file is sent. */
async function memoryFor(megabytes: number): Promise<number> {
  await stage.host.run(() => {
    const box = globalThis as Watched;
    box.most = 0;
    box.watch = setInterval(() => {
      box.most = Math.max(box.most, process.memoryUsage.rss() / 1024 / 1024);
    }, 20);
  });
  const id = await post(megabytes);
  const { json } = await stage.send<{ file: { size: number } }>({ send: `GET large/record/${id}` });
  expect(json.file.size).toBe(megabytes * MB);
  await stage.send({ send: `DELETE large/record/${id}` });
  return stage.host.run(() => {
    const box = globalThis as Watched;
    clearInterval(box.watch);
    return box.most;
  });
}

test(`${SIZE} MB need no more memory than 1 MB`, async () => {
  await stage.host.run((strapi, size) => void strapi.config.set('plugin::upload.sizeLimit', size), (SIZE + 10) * MB);
  for (let warm = 0; warm < 10; warm += 1) await memoryFor(1);
  const small = await memoryFor(1);
  expect((await memoryFor(SIZE)) - small).toBeLessThan(MOST);
}, 120_000);
