import { describe, expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { type Form, formOf, needed, tags } from './form';

export function storage(stage: Stage): void {
  const { post } = formOf(stage);

  async function stored(form: Form): Promise<Record<string, unknown>> {
    const answer = await post(form);
    expect(answer.status, answer.text).toBe(303);
    const path = locationOf(answer).pathname;
    const { json } = await stage.send<Record<string, unknown>>({ send: `GET ${path}` });
    return json;
  }

  describe('storage', () => {
    const cases: [field: string, entered: string | string[] | null, value: unknown][] = [
      ['text', 'a <b> & "c"', 'a <b> & "c"'],
      ['area', 'two\nlines', 'two\nlines'],
      ['area', '', ''],
      ['email', 'ann@example.com', 'ann@example.com'],
      ['url', 'https://example.com/?a=b', 'https://example.com/?a=b'],
      ['hidden', 'something', 'something'],
      ['number', '7', 7],
      ['number', '', null],
      ['when', '2026-03-01T09:30', expect.stringMatching(/^2026-03-01T09:30/)],
      ['day', '2026-03-01', '2026-03-01'],
      ['yes', 'on', true],
      ['yes', null, false],
      ['choice', 'two', 'two'],
      ['many', ['a', 'c'], ['a', 'c']],
      ['many', 'b', ['b']],
      ['radio', '2', 2],
      ['checks', ['x', 'z'], ['x', 'z']],
      ['checks', 'y', ['y']],
      ['checks', null, []],
      ['computed', 'blue', 'blue'],
    ];
    test.each(cases)('%s %j is stored as %j', async (field, entered, value) => {
      const form = entered === null ? needed : { ...needed, [field]: entered };
      const items = await stored(form);
      expect(items[field]).toEqual(value);
      expect(items.block).toBe('all');
    });

    test('only declared inputs are stored', async () => {
      const items = await stored({
        ...needed,
        unknown: 'x',
        intro: 'y',
        id: 'mine',
        __proto__: 'z',
        constructor: 'c',
        _csrf: 'd',
      });
      expect(items.id).toMatch(/^\d+$/);
      for (const name of ['unknown', 'intro', '_save', '_csrf']) expect(items).not.toHaveProperty(name);
      expect(Object.keys(items)).not.toContain('constructor');
    });
  });

  describe('a form stores only fields that it shows', () => {
    const saved = async (block: string, form: Form): Promise<Record<string, unknown>> => {
      const answer = await stage.send({
        send: `POST forms/blocks/${block}`,
        accept: html,
        form: { ...form, _save: '' },
      });
      expect(answer.status, answer.text).toBe(303);
      return (await stage.send<Record<string, unknown>>({ send: `GET ${locationOf(answer).pathname}` })).json;
    };
    const everything = {
      braced: 'by braces',
      liquid: '2',
      bracketed: 'by brackets',
      markup: 'by markup',
      unplaced: '1000',
      commented: 'x',
      quoted: 'x',
      computed: '1000',
    };

    test('a field is shown by braces, by Liquid and by a form control of its own', async () => {
      const { id, ...items } = await saved('shown', everything);
      expect(items).toEqual({
        block: 'shown',
        braced: 'by braces',
        liquid: 2,
        bracketed: 'by brackets',
        markup: 'by markup',
        computed: 3,
      });
    });

    test('where Liquid reads elements without naming them, every field is shown', async () => {
      expect(await saved('dynamic', { a: 'one', b: 'two' })).toMatchObject({ a: 'one', b: 'two' });
    });

    test('JSON stores items unchanged', async () => {
      const { json } = await stage.send<{ id: string }>({ send: 'POST forms', json: { unplaced: 1000 } });
      expect((await stage.send({ send: `GET forms/record/${json.id}` })).json).toMatchObject({ unplaced: 1000 });
    });

    test('editing by the form keeps items that it does not show', async () => {
      const { json } = await stage.send<{ id: string }>({ send: 'POST forms', json: { block: 'shown', unplaced: 7 } });
      const form = { ...everything, braced: 'changed', _save: '' };
      const answer = await stage.send({ send: `POST forms/record/${json.id}`, accept: html, form });
      expect(answer.status, answer.text).toBe(303);
      const { json: items } = await stage.send({ send: `GET forms/record/${json.id}` });
      expect(items).toMatchObject({ braced: 'changed', unplaced: 7, computed: 3 });
      expect(items).not.toHaveProperty('commented');
    });

    test('a computed element shows its value, and nothing while there is none', async () => {
      const fresh = await stage.send({ send: 'GET forms/blocks/shown', accept: html });
      expect(tags(fresh.text, 'computed')).toEqual([]);
      expect(fresh.text).not.toContain('Total');
      const { id } = await saved('shown', { liquid: '41' });
      for (const page of ['', '/edit']) {
        const { text } = await stage.send({ send: `GET forms/record/${id}${page}`, accept: html });
        expect(tags(text, 'computed')).toEqual([]);
        expect(text).toContain('42');
      }
    });
  });

  describe('names with dots', () => {
    test('names with dots are names like any other', async () => {
      const form = { a: 'one', 'a.b': 'two', 'a-c': ['x.y', 'z'], _save: '' };
      const answer = await stage.send({ send: 'POST forms/blocks/dotted', accept: html, form });
      expect(answer.status, answer.text).toBe(303);
      const path = locationOf(answer).pathname;
      expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({
        a: 'one',
        'a.b': 'two',
        'a-c': ['x.y', 'z'],
      });
    });

    test('fields that look like paths pollute nothing', async () => {
      const form = {
        ...needed,
        '__proto__.polluted': 'x',
        'constructor.prototype.polluted': 'x',
        '__proto__[polluted]': 'x',
        'text[0]': 'y',
      };
      expect([303, 400, 422]).toContain((await post(form)).status);
      expect(await stage.host.run(() => ({}) as { polluted?: string })).toEqual({});
      expect(await stage.host.run(() => Object.keys(Object.prototype))).toEqual([]);
    });
  });
}
