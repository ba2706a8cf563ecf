import { describe, expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import { html, type Stage } from '../../support/stage';
import { type Form, type Refusal, tags } from '../fields/form';

/** References in the entries of a repeated group. */
export function referencesInEntries(stage: Stage): void {
  const block = 'plans/blocks/plan';
  const post = (form: Form, as = 'anonymous', path = block, accept = html) =>
    stage.send<Refusal>({ send: `POST ${path}`, as, accept, form });
  const one: Form = { 'days:0': '1', 'days:0:name': 'Monday', 'days:0:topic': 'zebra' };
  const two: Form = { ...one, 'days:5': '1', 'days:5:topic': 'a/b', 'days:5:others': ['a/b'] };
  const chosen = (text: string, name: string) =>
    new RegExp(`name="${name}"[^>]*>.*?<option value="([^"]+)" selected>([^<]*)<`, 's').exec(text)?.slice(1);

  describe('a reference in a repeated group', () => {
    test('offers targets in each entry, and finds them for one', async () => {
      const { status, text } = await post({ ...two, 'days:5:topic:find': 'zebra', 'days:5:topic:search': '1' });
      expect(status).toBe(200);
      expect(chosen(text, 'days:0:topic')).toEqual(['zebra', 'Last &lt;b&gt;']);
      expect(chosen(text, 'days:1:topic')).toEqual(['a/b', 'With slash']);
      const optionsOf = (name: string) =>
        [...(new RegExp(`name="${name}"[^>]*>(.*?)</select>`, 's').exec(text)?.[1] ?? '').matchAll(/<option/g)].length;
      expect(optionsOf('days:0:topic')).toBe(102);
      expect(optionsOf('days:1:topic')).toBe(3);
      expect(tags(text, 'days:1:topic:find')[0]).toMatch(/value="zebra".* autofocus/);
      expect(tags(text, 'days:0:topic:find')[0]).not.toContain('autofocus');
    });

    test('is stored as ids in the entries, shown as links, and read by layouts', async () => {
      const path = locationOf(await post({ ...two, _save: '1' })).pathname;
      const { json } = await stage.send({ send: `GET ${path}` });
      expect(json).toMatchObject({
        days: [
          { name: 'Monday', topic: 'zebra', others: [], note: null },
          { name: '', topic: 'a/b', others: ['a/b'], note: null },
        ],
      });
      const { text } = await stage.send({ send: `GET ${path}`, accept: html });
      expect(text).toMatch(
        /<dd><a class="apps-reference" href="[^"]*\/topics\/record\/zebra">Last &lt;b&gt;<\/a><\/dd>/,
      );
      expect(text).toContain('<b>Last &lt;b&gt;</b><i>With slash</i>');
      const edit = await stage.send({ send: `GET ${path}/edit`, accept: html });
      expect(chosen(edit.text, 'days:1:topic')).toEqual(['a/b', 'With slash']);
    });

    test.each<[string, Form, string[]]>([
      ['one', one, []],
      ['an empty one', { ...one, 'days:0:topic': '' }, ['days.0.topic']],
      ['an id that does not exist', { ...two, 'days:5:topic': 'x' }, ['days.1.topic']],
      ['a record of another block', { ...one, 'days:0:topic': 'other' }, ['days.0.topic']],
      ['what the query leaves out', { ...one, 'days:0:others': 'zebra' }, ['days.0.others']],
      ['too many', { ...one, 'days:0:others': ['a', 'b', 'c', 'd'] }, ['days.0.others']],
      ['one that is not seen', { ...one, 'days:0:note': 'n1' }, ['days.0.note']],
      ['texts to look for alone', { ...one, 'days:3:topic:find': 'x' }, []],
      ['a button of no reference', { ...one, 'days:0:name:search': '1', 'nothing:0:x:search': '1' }, []],
    ])('checks %s', async (_what, form, wrong) => {
      const { json, status } = await post({ ...form, _save: '1' }, 'anonymous', block, 'application/json');
      expect([status, json.error?.details.errors.map(({ path }) => path.join('.')) ?? []]).toEqual([
        wrong.length ? 422 : 201,
        wrong,
      ]);
    });

    test('is kept, also in another entry, by one who may not see its target', async () => {
      const path = locationOf(await post({ ...one, 'days:0:note': 'n1', _save: '1' }, 'rita')).pathname;
      const moved = { 'days:0:topic': 'a/b', 'days:1:topic': 'zebra', 'days:1:note': 'n1', _save: '1' };
      expect((await post(moved, 'anonymous', path)).status).toBe(303);
      expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({
        days: [{ note: null }, { note: 'n1' }],
      });
    });

    test('takes any stored value for reading', async () => {
      const topics = [{ a: '<b>' }, [1, { b: 2 }], 7, 'x'.repeat(2_000), Array.from({ length: 600 }, (_, n) => `${n}`)];
      for (const [at, topic] of topics.entries()) {
        const days = Array.from({ length: 30 }, () => ({ topic, others: topic }));
        await stage.keep('plans', `kept-${at}`, { block: 'plan', days });
        const path = `/site/@@apps/plans/record/kept-${at}`;
        for (const one of [path, `${path}/edit`])
          expect((await stage.send({ send: `GET ${one}`, accept: html })).status).toBe(200);
      }
    });

    test.each([
      ['days.topic', 200, ['Last <b>']],
      ['days.name', 500, undefined],
      ['days.nothing', 500, undefined],
      ['other.topic', 500, undefined],
    ])('logic reads targets of %s', async (name, status, titles) => {
      const answer = await stage.send({ as: 'mona', send: `GET plans/blocks/read/topics?name=${name}` });
      expect(answer.status, answer.text).toBe(status);
      if (titles) expect(answer.json).toEqual(titles);
      else expect(answer.text).toContain('has no reference');
    });
  });
}
