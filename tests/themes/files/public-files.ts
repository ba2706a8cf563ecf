import { describe, expect, test } from 'vitest';
import type { RowRequest, Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function publicFiles(stage: Stage): void {
  describe('public files', () => {
    const at = '/site/@@theme/main';
    runTable(stage, [
      {
        title: 'a file of the theme is public',
        send: `GET ${at}/assets/site.css`,
        status: 200,
        has: ['teal'],
        answers: { 'content-type': /text\/css/, 'x-content-type-options': 'nosniff' },
      },
      {
        title: 'a file of an app is public',
        send: `GET ${at}/apps/open/assets/app.js`,
        status: 200,
        has: ['public file'],
        answers: { 'content-type': /javascript/ },
      },
      {
        title: 'HEAD of a public file has its type',
        send: `HEAD ${at}/assets/site.css`,
        status: 200,
        answers: { 'content-type': /text\/css/ },
      },
      { title: 'a link inside the theme is served', send: `GET ${at}/assets/inside.css`, status: 200, has: ['teal'] },
      {
        title: 'a link out of the theme is not served',
        send: `GET ${at}/assets/link.txt`,
        status: 404,
        lacks: ['outside of'],
      },
      { title: 'a folder that links out of the theme is not served', send: `GET ${at}/assets/etc/passwd`, status: 404 },
      { title: 'a missing file is not found', send: `GET ${at}/assets/absent.css`, status: 404 },
      { title: 'a folder is not served', send: `GET ${at}/assets/`, status: 404 },
      { title: 'a file outside of assets is not served', send: `GET ${at}/private.txt`, status: 404 },
      { title: 'the layout is not served', send: `GET ${at}/layout.html`, status: 404, lacks: ['main theme'] },
      { title: 'the description of the theme is not served', send: `GET ${at}/theme.yaml`, status: 404 },
      { title: 'settings are not served', send: `GET ${at}/apps/open/settings.yaml`, status: 404, lacks: ['editor'] },
      { title: 'logic is not served', send: `GET ${at}/apps/open/blocks/values.js`, status: 404, lacks: ['export'] },
      { title: 'libraries are not served', send: `GET ${at}/apps/logic/lib/shared.js`, status: 404, lacks: ['export'] },
      {
        title: 'a path with dots is not served',
        send: `GET ${at}/assets/../private.txt`,
        status: 404,
        lacks: ['never'],
      },
      {
        title: 'a path with encoded dots is not served',
        send: `GET ${at}/assets/%2e%2e/private.txt`,
        status: 404,
        lacks: ['never'],
      },
      {
        title: 'a path with encoded slashes is not served',
        send: `GET ${at}/assets/..%2Fprivate.txt`,
        status: 404,
        lacks: ['never'],
      },
      {
        title: 'a path with backslashes is not served',
        send: `GET ${at}/assets/..%5Cprivate.txt`,
        status: 404,
        lacks: ['never'],
      },
      {
        title: 'a path with dots that are encoded twice is not served',
        send: `GET ${at}/assets/%252e%252e/private.txt`,
        status: 404,
        lacks: ['never'],
      },
      { title: 'a path with a zero byte is not served', send: `GET ${at}/assets/site.css%00.png`, status: 404 },
      {
        title: 'a path out of all themes is not served',
        send: `GET ${at}/assets/../../outside.txt`,
        status: 404,
        lacks: ['outside of'],
      },
      { title: 'an absolute path is not served', send: `GET ${at}/assets//etc/passwd`, status: 404 },
      {
        title: 'a file of an unknown theme is not found',
        send: 'GET /site/@@theme/nowhere/assets/site.css',
        status: 404,
      },
      {
        title: 'a theme out of the folder is not found',
        send: 'GET /site/@@theme/..%2Fmain/assets/site.css',
        status: 404,
      },
      { title: 'themes are not in public/', send: 'GET /main/assets/site.css', status: 404 },
      { title: 'a public file cannot be posted to', send: `POST ${at}/assets/site.css`, status: 405 },
    ]);
  });

  describe('a part of a public file', () => {
    const at = '/site/@@theme/main/assets';
    const part = (range: string, headers = {}): RowRequest => ({
      send: `GET ${at}/digits.txt`,
      headers: { range, ...headers },
    });
    const whole = { status: 200, has: [/^0123456789$/], answers: { 'content-range': null, 'accept-ranges': 'bytes' } };
    const parts = (text: string, range: string) => ({
      status: 206,
      has: [new RegExp(`^${text}$`)],
      answers: { 'content-range': `bytes ${range}/10`, 'content-length': String(text.length) },
    });
    runTable(stage, [
      { title: 'in the middle', ...part('bytes=2-4'), ...parts('234', '2-4') },
      { title: 'from a byte on', ...part('bytes=7-'), ...parts('789', '7-9') },
      { title: 'at the end', ...part('bytes=-2'), ...parts('89', '8-9') },
      { title: 'at the end that is longer than the file', ...part('bytes=-99'), ...parts('0123456789', '0-9') },
      { title: 'that ends before it begins is the whole file', ...part('bytes=5-2'), ...whole },
      { title: 'from the first byte on', ...part('bytes=0-'), ...parts('0123456789', '0-9') },
      { title: 'that ends behind the file', ...part('bytes=8-99'), ...parts('89', '8-9') },
      {
        title: 'behind the file does not exist',
        ...part('bytes=10-'),
        status: 416,
        has: [/^$/],
        answers: { 'content-range': 'bytes */10' },
      },
      { title: 'of another unit is the whole file', ...part('lines=1-2'), ...whole },
      { title: 'in broken words is the whole file', ...part('bytes=b-c'), ...whole },
      { title: 'with a second part is the whole file', ...part('bytes=0-1,5-6'), ...whole },
      { title: 'of an earlier version is the whole file', ...part('bytes=2-4', { 'if-range': '"old"' }), ...whole },
      { title: 'HEAD has no part', ...part('bytes=2-4'), send: `HEAD ${at}/digits.txt`, status: 200 },
    ]);

    test('of the version that the client has', async () => {
      const { etag } = (await stage.send({ send: `GET ${at}/digits.txt` })).headers;
      const answer = await stage.send(part('bytes=2-4', { 'if-range': String(etag) }));
      expect([answer.status, answer.text]).toEqual([206, '234']);
    });
  });
}
