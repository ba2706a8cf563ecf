import { expect, test } from 'vitest';
import { stepOf } from '../../forms/pages/fields-of';
import type { Processes } from './processes';

const hour = 3_600_000;

/** Files of forms with pages, which wait at the store. @param isTimed whether their time ends too, for which a host is started */
export function keptFiles(
  { stage, twin, ask, read, press, lastPage, later, names, onDisk }: Processes,
  isTimed: boolean,
): void {
  const statement = { name: 'cv', file: 'statement.txt', content: 'A line.' };
  const rows = () =>
    stage.host.run(async (strapi) =>
      strapi.db.query('plugin::apps.kept-file').findMany({ select: ['token', 'sender'] }),
    );

  test('a form with pages goes on in the other process with the file that the first has got', async () => {
    const work = await lastPage(stage.host, statement);
    expect([work.status, stepOf(work.text)]).toEqual([200, 'Work']);
    const [row] = await rows();
    expect(await names('records')).toEqual([expect.stringMatching(/^apps_[0-9a-f]{64}\.txt$/)]);
    // Who lists the objects learns no name by which the file could be claimed.
    expect((await names('records')).join()).not.toContain(row?.token);
    expect(await onDisk()).toEqual([]);
    const back = await press(twin, work, {}, '_back');
    expect(back.text).toContain('statement.txt');
    const again = await press(stage.host, back, {}, '_next');
    const saved = await press(twin, again, {}, '_save');
    expect(saved.status, saved.text).toBe(303);
    const address = new URL(String(saved.headers.location)).pathname;
    const { json } = await ask(stage.host, 'mona', { method: 'GET', path: address });
    expect(json.cv).toMatchObject({ name: 'statement.txt', size: 7 });
    // Kept files are removed after the answer.
    await expect.poll(rows).toEqual([]);
    expect(await names('records')).toEqual([`apps_${json.cv.documentId}.txt`]);
    expect([200, 302]).toContain((await read(stage.host, 'mona', json.cv.url)).status);
    expect((await ask(twin, 'mona', { method: 'DELETE', path: address })).status).toBeLessThan(300);
    await expect.poll(() => names('records')).toEqual([]);
  });

  test.runIf(isTimed)(
    'a kept file of a form that is left is removed two hours later, by any process',
    async () => {
      await lastPage(stage.host, statement);
      await lastPage(twin, statement);
      expect([(await names('records')).length, (await rows()).length]).toEqual([2, 2]);
      const third = await later(3 * hour);
      try {
        await expect.poll(() => names('records')).toEqual([]);
        expect(await rows()).toEqual([]);
      } finally {
        await third.stop();
      }
    },
    180_000,
  );
}
