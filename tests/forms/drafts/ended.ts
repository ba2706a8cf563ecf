import { describe, expect, test } from 'vitest';
import { pdf } from '../files/send';
import type { draftTools } from './apps';

type Tools = ReturnType<typeof draftTools>;

/** Drafts that end while another device has them open: what was entered there is not lost. */
export function endedDrafts({ ask, form, parts, save, page, records }: Tools): void {
  const csrfOf = (text: string) => /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const open = async (app: string, token: string) => {
    const { text } = await page(app, token);
    const block = /name="_draft_block" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return { _csrf: csrfOf(text), _draft_block: block };
  };
  const ways: [title: string, button: Record<string, string>][] = [
    ['sends it', { _save: '1' }],
    ['saves it', { _draft: '1' }],
    ['adds an entry', { 'people:add': '1' }],
  ];

  describe('a draft that ends while another device has it open', () => {
    test.each(ways)('sent: who %s reads what was entered', async (title, button) => {
      const token = await save('kept/blocks/apply', { name: title });
      const hidden = await open('kept', token);
      expect((await form(`kept/draft/${token}`, { name: title, _save: '1' })).status).toBe(303);
      const typed = {
        name: `again ${title}`,
        more: '<b>typed</b>',
        pin: '9876',
        'people:0': '1',
        'people:0:who': 'Ada',
      };
      const late = await form(`kept/draft/${token}`, { ...typed, ...hidden, ...button }, { csrf: false });
      expect([late.status, late.headers['content-type']]).toEqual([409, expect.stringContaining('text/html')]);
      for (const text of [
        'This draft was sent already',
        '<dt>Your name</dt><dd>again ',
        '<dd>&lt;b&gt;typed&lt;/b&gt;</dd>',
        '<dt>People 1: Who</dt><dd>Ada</dd>',
        'class="apps-block',
      ])
        expect(late.text).toContain(text);
      expect(late.text).not.toContain('9876');
      expect(late.text).not.toContain('name="name"');
      expect(late.text).not.toContain(token);
      // As the script asks for it, and with a token that is too old.
      const fragment = await form(
        `kept/draft/${token}`,
        { ...typed, ...hidden, ...button },
        {
          csrf: false,
          accept: 'text/html+fragment',
        },
      );
      expect([fragment.status, fragment.text.includes('<dd>again ')]).toEqual([409, true]);
      const stale = await form(`kept/draft/${token}`, { ...typed, ...button, _csrf: 'old' }, { csrf: false });
      expect([stale.status, stale.text.includes('<dd>again ')]).toEqual([409, true]);
      expect((await records('kept')).filter(({ name }) => String(name).startsWith('again '))).toEqual([]);
    });

    test('sent: a JSON client is told so', async () => {
      const token = await save('kept/blocks/apply', { name: 'Json sent' });
      await form(`kept/draft/${token}`, { name: 'Json sent', _save: '1' });
      for (const button of ['_save', '_draft']) {
        const late = await ask(`POST kept/draft/${token}`, { csrf: false, json: { name: 'late', [button]: '1' } });
        expect([late.status, late.json.error]).toEqual([
          409,
          expect.objectContaining({
            name: 'ConflictError',
            message: 'The form of this draft was sent already',
            details: { code: 'sent' },
          }),
        ]);
      }
    });

    const endings: [title: string, end: (tools: { token: string }) => Promise<unknown>][] = [
      ['deleted', ({ token }) => ask(`DELETE kept/draft/${token}`, { csrf: false })],
    ];

    test.each(endings)('%s: the form is shown as a new one, with what was entered', async (_, end) => {
      const token = await save('kept/blocks/apply', { name: 'Before' });
      const hidden = await open('kept', token);
      expect(hidden._draft_block).toBe('apply');
      await end({ token });
      const typed = { name: 'Typed late', kind: 'red', more: 'also', ...hidden };
      for (const button of ['_draft', '_save']) {
        const late = await form(`kept/draft/${token}`, { ...typed, [button]: '1' }, { csrf: false });
        expect(late.status).toBe(409);
        for (const text of ['This draft was deleted', 'value="Typed late"', 'value="also"', 'kept/blocks/apply"'])
          expect(late.text).toContain(text);
        expect(late.text).not.toContain(token);
      }
      const files = await parts(
        `kept/draft/${token}`,
        [
          ...Object.entries({ ...typed, _draft: '1' }).map(([name, content]) => ({ name, content })),
          { name: 'cv', file: 'late.pdf', content: pdf },
        ],
        { csrf: false },
      );
      expect([files.status, files.text.includes('late.pdf')]).toEqual([409, true]);
      // A file that went with the draft is missed.
      const gone = await form(`kept/draft/${token}`, { ...typed, cv: 'stored:gone', _save: '1' }, { csrf: false });
      expect(gone.text).toContain('The chosen file is no longer there.');
      const json = await ask(`POST kept/draft/${token}`, { csrf: false, json: { name: 'late', _draft: '1' } });
      expect([json.status, json.json.error]).toEqual([409, expect.objectContaining({ details: { code: 'ended' } })]);
    });

    test('deleted, of a block that has closed: what was entered is shown for reading', async () => {
      const token = await save('kept/blocks/seats', { name: 'Before' });
      const hidden = await open('kept', token);
      await ask(`DELETE kept/draft/${token}`, { csrf: false });
      const taken = await ask('POST kept/blocks/seats', { json: { name: 'Taker', _save: '1' } });
      expect([201, 409]).toContain(taken.status);
      const late = await form(`kept/draft/${token}`, { name: 'Typed late', ...hidden, _draft: '1' }, { csrf: false });
      expect([late.status, late.text.includes('<dd>Typed late</dd>')]).toEqual([409, true]);
    });

    test('a form that names a block of which there is none, or which its sender may not see', async () => {
      const token = await save('kept/blocks/apply', { name: 'Before' });
      await ask(`DELETE kept/draft/${token}`, { csrf: false });
      const late = (more: Record<string, string | string[]>) =>
        form(`kept/draft/${token}`, { name: 'x', _draft: '1', ...more });
      for (const [block, status] of [
        ['none', 404],
        ['__proto__', 404],
        ['', 404],
        ['members', 401],
      ] as const)
        expect([block, (await late({ _draft_block: block })).status]).toEqual([block, status]);
      expect((await late({})).status).toBe(404);
    });
  });
}
