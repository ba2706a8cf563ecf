import { readdir } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Host } from '../../support/host';
import type { Answer } from '../../support/send';
import type { RowRequest, Stage } from '../../support/stage';
import { formBody, type Part, pdf, png } from '../files/send';

/** A picture of one colour, wide enough for a small one. */
export function wide(width: number, height: number): Buffer {
  const row = Buffer.alloc(1 + width * 3);
  const chunk = (type: string, data: Buffer) => {
    const table = Array.from({ length: 256 }, (_, n) => {
      let c = n;
      for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
      return c >>> 0;
    });
    const body = Buffer.concat([Buffer.from(type), data]);
    const crc = body.reduce((sum, byte) => (table[(sum ^ byte) & 255] as number) ^ (sum >>> 8), 0xffffffff);
    const [length, end] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    end.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
    return Buffer.concat([length, body, end]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

export interface File {
  documentId: string;
  name: string;
  url: string;
  mime: string;
  size: number;
  thumbnail?: string;
}
export type Items = { [name in 'cv' | 'photo' | 'shop']: File } & { more: { cv: File }[] };

export const attach: Part = { name: 'cv', file: 'My CV.pdf', content: pdf };

/** What the tests of private files use. @param folder of the stored contents, or a file in it */
export function privateTools(stage: Stage, twin: Host, folder: (...names: string[]) => string) {
  const post = async (as: string, parts: Part[], target = 'cv/blocks/apply', accept = 'application/json') =>
    stage.send<{ id: string; error?: { details: { errors: { path: string[]; message: string }[] } } }>({
      as,
      accept,
      send: `POST ${target}`,
      body: formBody([...parts, { name: '_save', content: '1' }]),
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
  const get = (as: string, url: string, more: Partial<RowRequest> = {}): Promise<Answer> =>
    stage.send({ as, send: `GET ${url.replace(stage.host.url, '')}`, accept: '*/*', ...more });
  const made = async (as: string, parts: Part[] = [attach]) => {
    const { status, json, text } = await post(as, parts);
    expect(status, text).toBe(201);
    const { json: items } = await stage.send<Items>({ as: 'mona', send: `GET cv/record/${json.id}` });
    return { id: json.id, items };
  };
  /** Names of the stored contents. */
  const kept = async (): Promise<string[]> => {
    const all = await readdir(folder(), { recursive: true, withFileTypes: true }).catch(() => []);
    return all.filter((one) => one.isFile()).map(({ name }) => name);
  };

  return { stage, twin, folder, post, get, made, kept };
}

export type PrivateTools = ReturnType<typeof privateTools>;
