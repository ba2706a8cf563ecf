import { beforeAll, describe, expect, test } from 'vitest';
import { html, type Stage } from '../../support/stage';
import { upload } from '../../support/upload';
import { broken, file, hostile } from './hostile-cases';
import { type Answer, formBody, type Part } from './send';

interface Tools {
  /** The address of the form, below the apps. */
  block: string;
  sendBody(body: Buffer | string, target?: string, accept?: string, headers?: object): Promise<Answer>;
  post(parts: Part[], target?: string, accept?: string): Promise<Answer>;
  held(): Promise<string[]>;
  names(): Promise<string[]>;
}

export function hostileFiles(stage: Stage, { block, sendBody, post, held, names }: Tools): void {
  describe('hostile files', () => {
    beforeAll(async () => {
      await stage.host.run((strapi) => strapi.db.query('plugin::upload.file').deleteMany({}));
    });

    test.each(hostile)('%s', async (_what, given, answer) => {
      const parts = [given].flat();
      const sent = await post(parts, block, 'application/json');
      if (answer instanceof RegExp) {
        expect([sent.status, sent.errors[0]?.message]).toEqual([422, expect.stringMatching(answer)]);
      } else {
        expect([sent.status, sent.errors]).toEqual([201, []]);
        const { id } = JSON.parse(sent.text) as { id: string };
        const { json } = await stage.send<Record<string, unknown>>({ send: `GET forms/record/${id}` });
        const item = [json[parts[0]?.name ?? '']].flat()[0] as { url: string };
        expect(item).toMatchObject(answer);
        const served = await fetch(new URL(item.url, stage.host.url));
        expect(served.headers.get('content-type') ?? '').toMatch(/^(?!text\/html|image\/svg)/);
        expect(served.headers.get('x-content-type-options')).toBe('nosniff');
        await stage.send({ send: `DELETE forms/record/${id}` });
      }
      await expect.poll(names).toEqual([]);
      await expect.poll(held).toEqual([]);
    });

    test.each(broken)('%s', async (_what, body, status) => {
      expect((await sendBody(body)).status).toBe(status);
    });

    test('a sender without the token or the right fills no disk', async () => {
      const body = formBody([file, { name: '_save', content: '' }]);
      expect((await sendBody(body, block, html, { 'X-CSRF-TOKEN': '' })).status).toBe(403);
      const before = await held();
      const refused = await sendBody(body, 'restricted/blocks/files');
      expect([401, 403, 404]).toContain(refused.status);
      await expect.poll(held).toEqual(before);
    });

    test('1 GB that is announced, and what is sent beyond the limits, is refused early', async () => {
      const before = await held();
      const port = Number(new URL(stage.host.url).port);
      const at = `/site/@@apps/${block}`;
      const headers = { 'X-CSRF-TOKEN': await stage.csrf('anonymous') };
      const begin = '--b\r\nContent-Disposition: form-data; name="cv"; filename="a.txt"\r\n\r\n';
      const announced = await upload({ port, path: at, headers, begin, size: 1024 ** 3 });
      expect(announced.status).toBe(413);
      expect(announced.sent).toBeLessThan(32 * 1024 ** 2);
      const sent = await upload({ port, path: at, headers, begin, size: 120 * 1024 ** 2, chunked: true });
      expect(sent.status).toBe(413);
      await expect.poll(held).toEqual(before);
    });

    test('a stream that stops leaves nothing', async () => {
      const before = await held();
      const port = Number(new URL(stage.host.url).port);
      const headers = { 'X-CSRF-TOKEN': await stage.csrf('anonymous') };
      const begin = '--b\r\nContent-Disposition: form-data; name="cv"; filename="a.txt"\r\n\r\n';
      await upload({ port, path: `/site/@@apps/${block}`, headers, begin, size: 90_000, leaveAt: 70_000 });
      await expect.poll(held).toEqual(before);
      await expect.poll(names).toEqual([]);
    });
  });
}
