import { expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import type { ThemeCopy } from '../../support/theme';
import type { draftTools } from './apps';

/** Drafts whose definitions change. */
export function changes(
  _stage: Stage,
  { save, page, read, form, records }: ReturnType<typeof draftTools>,
  themes: ThemeCopy,
): void {
  const write = async (id: string, definition: string, layout: string) => {
    await themes.write(`main/apps/foreign/blocks/${id}.yaml`, `${definition}\n`);
    await themes.write(`main/apps/foreign/blocks/${id}.html`, layout);
  };

  test('a definition that has changed shows what still fits, and says what does not', async () => {
    const before =
      'drafts: true\nelements:\n  a: { type: TEXT, label: First }\n  b: { type: SELECT, label: Colour, options: [red, green] }\n  r: { type: REFERENCE, app: foreign, label: Friend }\n  c: { type: TEXT, label: Third }\n  g: { type: REPEAT, label: People, elements: { who: TEXT, tel: { type: TEXT, label: Phone } } }';
    await write('moving', before, '{a}{b}{r}{c}{g}{_draft}{_save}');
    const given = { a: 'stays', b: 'red', r: 'friend', c: 'goes', 'g:0': '1', 'g:0:who': 'Ada', 'g:0:tel': '123' };
    const token = await save('foreign/blocks/moving', given);
    expect((await page('foreign', token)).text).not.toContain('no longer fit');
    const after =
      'drafts: true\nelements:\n  a: { type: TEXT, label: First }\n  b: { type: SELECT, label: Colour, options: [blue] }\n  r: { type: REFERENCE, app: foreign, label: Friend }\n  d: { type: TEXT, default: usual }\n  g: { type: REPEAT, label: People, elements: { who: TEXT } }';
    await write('moving', after, '{a}{b}{r}{d}{g}{_draft}{_save}');
    await expect.poll(async () => (await page('foreign', token)).text).toContain('These entries no longer fit:');
    const { text } = await page('foreign', token);
    for (const row of [
      '<dt>Colour</dt><dd>red</dd>',
      '<dt>Third</dt><dd>goes</dd>',
      '<dt>People 1: tel</dt><dd>123</dd>',
    ])
      expect(text).toContain(row);
    expect(text).not.toContain('<dd>friend</dd>');
    expect(text).toContain('value="stays"');
    expect(text).toContain('value="usual"');
    expect(text).toContain('value="Ada"');
    expect((await form(`foreign/draft/${token}`, { a: 'stays', b: 'blue', d: 'x', _save: '1' })).status).toBe(303);
  });

  test('a block that has closed, keeps no drafts any more or is gone', async () => {
    const closing = 'elements: { name: { type: TEXT, label: Your name } }';
    await write('later', `drafts: true\n${closing}`, '{name}{_draft}{_save}');
    const token = await save('foreign/blocks/later', { name: 'Late' });
    await write('later', `drafts: true\ncloses: 2001-01-01\nclosed: Too late\n${closing}`, '{name}{_draft}{_save}');
    await expect.poll(async () => (await page('foreign', token)).text).toContain('Too late');
    const { text } = await page('foreign', token);
    expect(text).toContain('<dt>Your name</dt><dd>Late</dd>');
    expect(text).not.toContain('name="name"');
    const refused = await form(`foreign/draft/${token}`, { name: 'Late', _save: '1' });
    expect([refused.status, (await read('foreign', token)).status]).toEqual([409, 200]);
    expect(await save(`foreign/draft/${token}`, { name: 'Later' })).toBe(token);
    await write('later', closing, '{name}{_save}');
    await expect.poll(async () => (await page('foreign', token)).text).toContain('value="Later"');
    expect((await form(`foreign/draft/${token}`, { name: 'Sent', _save: '1' })).status).toBe(303);
    expect((await records('foreign')).map(({ name }) => name)).toContain('Sent');
    await write('gone', `drafts: true\n${closing}`, '{name}{_draft}{_save}');
    const lost = await save('foreign/blocks/gone', { name: 'Lost' });
    await themes.remove('main/apps/foreign/blocks/gone.yaml');
    await themes.remove('main/apps/foreign/blocks/gone.html');
    await expect.poll(async () => (await read('foreign', lost)).status).toBe(404);
  });

  test('a field that is now on another page is still in the form', async () => {
    const elements = 'elements: { a: TEXT, b: TEXT, c: TEXT }';
    const order = (list: string) => `drafts: true\npages:\n${list}\n${elements}`;
    await write('turned', order('  - { title: One, elements: [a, b] }\n  - { title: Two, elements: [c] }'), '{_pages}');
    const token = await save('foreign/blocks/turned', { a: 'first', b: 'moved', _page: '0', _seen: '0' });
    await write('turned', order('  - { title: One, elements: [a] }\n  - { title: Two, elements: [c, b] }'), '{_pages}');
    await expect
      .poll(async () => (await page('foreign', token)).text)
      .toContain('<input type="hidden" name="b" value="moved">');
  });
}
