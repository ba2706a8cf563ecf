import { describe, expect, test } from 'vitest';
import type { AppDetail } from '../../../plugins/apps/shared/admin-api';
import { html, type Stage } from '../../support/stage';
import { runTable } from '../../support/table';

const route = '/apps/sites/site/apps/options';

export function optionsOfApps(stage: Stage): void {
  const put = (json: object) => stage.send({ as: 'root', send: `PUT ${route}/options`, json });
  const revision = async () => {
    const { json } = await stage.send<AppDetail>({ as: 'root', send: `GET ${route}` });
    return json.options.revision;
  };
  const set = async (options: unknown) => put({ options, revision: await revision() });
  const seen = async (block: string) => (await stage.send({ send: `GET options/blocks/${block}/seen` })).json;
  const file = { heading: 'From the file', colours: { text: 'black', back: 'white' }, list: [1, 2] };

  describe('options', () => {
    test.each(['script', 'snake'])('of the file are in context.app.options of %s', async (block) => {
      expect(await seen(block)).toEqual(file);
    });

    test('that an administrator has set are merged over those of the file, for one site', async () => {
      const override = { heading: 'From the panel', colours: { text: 'red' }, list: [3], more: null };
      const merged = { ...override, colours: { text: 'red', back: 'white' } };
      expect(await set(override)).toMatchObject({ status: 200, json: { file, override, merged } });
      expect([await seen('script'), await seen('snake')]).toEqual([merged, merged]);
      const page = await stage.send({ send: 'GET options/blocks/page', accept: html });
      expect(page.text).toContain('<h2>From the panel, red</h2>');
      const detail = await stage.send({ as: 'root', send: `GET ${route}` });
      expect(detail.json).toMatchObject({ options: { file, override, merged } });
      expect(await set(null)).toMatchObject({ status: 200, json: { override: null, merged: file } });
      expect(await seen('script')).toEqual(file);
    });

    test('are not changed by what was made of older ones; the answer has the newer ones', async () => {
      const theirs = { heading: 'Theirs' };
      const read = await revision();
      expect(await put({ options: theirs, revision: read })).toMatchObject({ status: 200 });
      const late = await put({ options: { heading: 'Mine' }, revision: read });
      const current = { override: theirs, revision: await revision() };
      expect(late).toMatchObject({ status: 409, json: { error: { name: 'ConflictError', details: { current } } } });
      expect(await seen('script')).toMatchObject(theirs);
      expect(await put({ options: theirs, revision: current.revision })).toMatchObject({ status: 200 });
      // Without a revision they are replaced whatever they are.
      expect(await put({ options: null })).toMatchObject({ status: 200 });
      expect(await revision()).toBeNull();
    });

    test.each([
      ['a list', [1]],
      ['a text', 'x'],
      ['nothing', undefined],
      ['too much', { text: 'x'.repeat(100_000) }],
    ])('are refused when they are %s', async (_name, options) => {
      expect(await set(options)).toMatchObject({ status: 400, json: { error: { details: { key: 'options' } } } });
      expect(await seen('script')).toEqual(file);
    });

    runTable(stage, [
      { title: 'are for those who manage apps', as: 'olga', send: `PUT ${route}/options`, json: {}, status: 403 },
      { title: 'of an unknown app', as: 'root', send: `PUT ${route}x/options`, json: { options: {} }, status: 404 },
    ]);
  });
}
