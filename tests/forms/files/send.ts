import { readdir } from 'node:fs/promises';
import { html, type Stage } from '../../support/stage';

/** A part of a form. */
export interface Part {
  name: string;
  /** Absent: a field. */
  file?: string;
  type?: string;
  content: string | Buffer;
}

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const pdf = Buffer.from('%PDF-1.4\n%\xe2\xe3\n1 0 obj\nendobj\n', 'latin1');

/** The body of a form; names are put in as they are. */
export function formBody(parts: readonly Part[], boundary = 'b'): Buffer {
  const pieces = parts.flatMap(({ name, file, type = 'application/octet-stream', content }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
        (file === undefined ? '\r\n\r\n' : `; filename="${file}"\r\nContent-Type: ${type}\r\n\r\n`),
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

export interface Answer {
  status: number;
  text: string;
  location: string;
  errors: { path: string[]; message: string }[];
}

/** Sends the body of a form to an app's address. */
export async function sendBody(
  stage: Stage,
  body: Buffer | string,
  target: string,
  accept = html,
  headers = {},
): Promise<Answer> {
  const response = await fetch(`${stage.host.url}/site/@@apps/${target}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      Accept: accept,
      'Content-Type': 'multipart/form-data; boundary=b',
      'X-CSRF-TOKEN': await stage.csrf('anonymous'),
      // A kept connection that the server has just closed would look like a failing server.
      Connection: 'close',
      ...headers,
    },
    body: body as BodyInit,
  });
  const text = await response.text();
  const json = text.startsWith('{') ? JSON.parse(text) : {};
  const location = response.headers.get('location') ?? '';
  return { status: response.status, text, location, errors: json.error?.details?.errors ?? [] };
}

/** The files that wait in a temporary folder. */
export const heldIn = async (folder: string) =>
  (await readdir(folder).catch(() => [])).filter((one) => one.startsWith('upload-'));

/** Names of the files in the media library. */
export const libraryNames = (stage: Stage) =>
  stage.host.run(async (strapi) => {
    const files = (await strapi.db.query('plugin::upload.file').findMany({ orderBy: 'id' })) as { name: string }[];
    return files.map(({ name }) => name);
  });
