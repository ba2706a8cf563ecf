import { beforeAll, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { runTable } from '../../support/table';
import { tags } from '../fields/form';

/** What was typed stays, and pages have their titles and addresses (docs/reference/site.md#titles-and-addresses). */
export function entries(stage: Stage): void {
  beforeAll(async () => {
    await stage.put('members', 'two', { block: 'note', text: 'Stored' }, 'anna');
  });

  describe('what was typed', () => {
    const fields = { text: 'two\r\nlines', password: '<p>', tags: ['a', 'c'] };

    test.each(['members/blocks/note', '/site/@@note'])('stays after an action of %s', async (address) => {
      const { status, text } = await stage.send({
        send: `POST ${address}`,
        accept: html,
        form: { ...fields, 'action.add': '' },
      });
      expect(status).toBe(200);
      expect(text).toMatch(/<textarea[^>]*>\ntwo\nlines<|<textarea[^>]*>\ntwo\r\nlines</);
      expect(tags(text, 'password')[0]).toContain('value="&lt;p&gt;"');
      expect(tags(text, 'tags').map((tag) => tag.includes('checked'))).toEqual([true, false, true]);
      expect(text).not.toContain('aria-invalid');
    });

    test('stays in the form of a record, which only those who may change it get', async () => {
      const send = { send: 'POST members/record/two', accept: html, form: { ...fields, 'action.add': '' } };
      const owner = await stage.send({ as: 'anna', ...send });
      expect(tags(owner.text, 'password')[0]).toContain('value="&lt;p&gt;"');
      const reader = await stage.send({ as: 'abel', ...send });
      expect([reader.status, tags(reader.text, 'password')]).toEqual([200, []]);
      const read = await stage.send({ ...send, as: 'anna', form: { 'action.add': '' } });
      expect([read.status, tags(read.text, 'password')]).toEqual([200, []]);
      expect((await stage.items('members', 'two'))?.text).toBe('Stored');
    });
  });

  describe('titles and addresses', () => {
    beforeAll(() => stage.put('checked', 'one', { block: 'form', room: 'Red & <blue>' }));

    runTable(stage, [
      {
        title: 'the title of a record has its values, escaped',
        send: 'GET checked/record/one',
        accept: html,
        status: 200,
        has: [
          '<title>Book Red &amp; &lt;blue&gt; now</title>',
          '/site/@@apps/checked/record/one">',
          '<html lang="en">',
        ],
      },
      {
        title: 'an element without a value is left out of a title',
        send: 'GET checked/blocks/form',
        accept: html,
        status: 200,
        has: [
          '<title>Book now</title>',
          /<link rel="canonical" href="http:[^"]*\/site\/@@apps\/checked\/blocks\/form">/,
        ],
      },
      {
        title: 'the layout of the theme has the title; the canonical address of a block is its view',
        send: 'GET members/blocks/note?x=1',
        accept: html,
        status: 200,
        has: ['<title>A note | site</title>', /<link rel="canonical" href="http:[^"]*\/site\/@@note">\n<\/head>/],
      },
      {
        title: 'a refused form keeps the title',
        send: 'POST /site/@@note',
        as: 'anna',
        accept: html,
        form: { _save: '' },
        status: 422,
        has: ['<title>A note | site</title>', 'id="themed"'],
      },
      {
        title: 'without a title the id of the block is the title',
        send: 'GET members/blocks/quick',
        accept: html,
        status: 200,
        has: ['<title>quick | site</title>'],
      },
      {
        title: 'a visitor without the right is asked to log in, by the title of the block',
        send: 'GET members/blocks/shut',
        accept: html,
        status: 401,
        has: ['Please log in to see &quot;The results&quot;', 'id="themed"'],
        lacks: ['rel="canonical"'],
      },
    ]);

    test('a record that was reached by a view leads back to it when it is deleted', async () => {
      await stage.put('members', 'gone', { block: 'note', text: 'x' }, 'anna');
      const { headers } = await stage.send({
        as: 'anna',
        send: 'POST members/record/gone',
        accept: html,
        form: { _delete: '' },
      });
      expect(headers.location).toMatch(/\/site\/@@note$/);
    });
  });
}
