import { expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import { pdf, png } from '../files/send';
import type { draftTools } from './apps';

type Tools = ReturnType<typeof draftTools>;

/** Files of drafts: kept as long as the draft, not served, and handed over to the record. */
export function draftFiles({ ask, parts, page, read, records, rows, tokenOf }: Tools): void {
  const given = [
    { name: 'name', content: 'Files' },
    { name: 'cv', file: 'my cv.pdf', content: pdf },
    { name: 'photo', file: 'me.png', content: png },
    { name: 'people:0', content: '1' },
    { name: 'people:0:who', content: 'Ada' },
    { name: 'people:0:doc', file: 'ada.pdf', content: pdf },
  ];
  const saved = async () => {
    const answer = await parts('kept/blocks/apply', [...given, { name: '_draft', content: '1' }]);
    expect(answer.status).toBe(303);
    const token = tokenOf(locationOf(answer).pathname);
    const text = (await page('kept', token)).text;
    const kept = (name: string) => new RegExp(`name="${name}"[^>]*value="(stored:[^"]+)"`).exec(text)?.[1] ?? '';
    return { token, text, cv: kept('cv'), photo: kept('photo'), doc: kept('people:0:doc') };
  };
  const known = async () => (await rows('apps_files')).map(({ file }) => `stored:${file}`);
  const isGone = (files: string[]) =>
    expect.poll(async () => (await known()).filter((one) => files.includes(one)), { timeout: 10_000 }).toEqual([]);

  test('files are kept with the draft and handed over to the record', async () => {
    const { token, text, cv, photo, doc } = await saved();
    expect(text).toContain('my cv.pdf');
    expect(text).not.toMatch(/href="[^"]*\/files\//);
    expect((await read('kept', token)).json.values).toMatchObject({
      cv: { name: 'my cv.pdf', mime: 'application/pdf', size: pdf.length },
      people: [{ who: 'Ada', doc: { name: 'ada.pdf' } }],
    });
    for (const who of ['anonymous', 'mona'])
      expect((await ask(`GET kept/files/${cv.slice(7)}/my%20cv.pdf`, { as: who, accept: '*/*' })).status).toBe(404);
    expect((await ask(`GET kept/draft/${token}`, { accept: 'text/html' })).text).not.toContain('/uploads/');
    const answer = await parts(`kept/draft/${token}`, [
      { name: 'name', content: 'Filed' },
      { name: 'cv', content: cv },
      { name: 'photo', content: photo },
      { name: 'people:0', content: '1' },
      { name: 'people:0:doc', content: doc },
      { name: '_save', content: '1' },
    ]);
    expect(answer.status).toBe(303);
    const found = async () => (await records('kept')).find(({ name }) => name === 'Filed') as Record<string, unknown>;
    expect(await found()).toMatchObject({
      cv: { documentId: cv.slice(7) },
      people: [{ doc: { documentId: doc.slice(7) } }],
    });
    // The photo is in the media library, as its element says.
    await expect.poll(async () => JSON.stringify((await found()).photo), { timeout: 10_000 }).toContain('/uploads/');
    expect((await ask(`GET kept/files/${cv.slice(7)}/my%20cv.pdf`, { as: 'mona', accept: '*/*' })).status).toBe(200);
    expect((await known()).filter((one) => [cv, photo, doc].includes(one))).toHaveLength(3);
  });

  test('files that a draft no longer has are removed, and all of them with it', async () => {
    const { token, cv, photo, doc } = await saved();
    const again = await parts(`kept/draft/${token}`, [
      { name: 'name', content: 'Less' },
      { name: 'cv', content: cv },
      { name: '_draft', content: '1' },
    ]);
    expect(again.status).toBe(303);
    await isGone([photo, doc]);
    expect((await known()).includes(cv)).toBe(true);
    await ask(`DELETE kept/draft/${token}`);
    await isGone([cv]);
  });

  test('a file that its field does not take is refused, and nothing is lost', async () => {
    const wrong = [
      { name: 'name', content: 'Wrong' },
      { name: 'cv', file: 'a.png', content: png },
    ];
    const answer = await parts('kept/blocks/apply', [...wrong, { name: '_draft', content: '1' }]);
    expect([answer.status, answer.text.includes('value="Wrong"')]).toEqual([422, true]);
    const large = [{ name: 'cv', file: 'a.pdf', content: Buffer.concat([pdf, Buffer.alloc(3_000)]) }];
    expect((await parts('kept/blocks/apply', [...large, { name: '_draft', content: '1' }])).status).toBe(422);
    const inEntry = [
      { name: 'people:4:doc', file: 'x.exe', content: Buffer.from([77, 90, 0, 1, 2]) },
      { name: '_draft', content: '1' },
    ];
    expect((await parts('kept/blocks/apply', inEntry, { accept: 'application/json' })).json).toMatchObject({
      error: { details: { errors: [{ path: ['people', '0', 'doc'] }] } },
    });
  });
}
