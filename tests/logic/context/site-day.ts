import { beforeAll, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';

/** A site whose clocks are put forward on 29 March 2026, a day of 23 hours. */
export const berlin = [{ id: 'site', title: 'Demo site', theme: 'main', timeZone: 'Europe/Berlin' }];

/** An app that finds the records of a day, by the site's time: files of a theme by path. */
export const dayApp: Record<string, string> = {
  'apps/days/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/days/blocks/entry.yaml': `
elements:
  created: { type: BASIC, mode: COMPUTED_ON_CREATION, index_type: field }
  day: { type: BASIC, mode: COMPUTED_ON_CREATION, index_type: field }
`,
  'apps/days/blocks/entry.js': `
export const created = () => new Date().toISOString();
export const day = ({ now }) => now.slice(0, 10);
`,
  'apps/days/blocks/found.yaml': 'elements: { of_day: BASIC, today: BASIC }\n',
  'apps/days/blocks/found.js': `
const between = (app, begin, end) =>
  app.search('begin <= created < end', { names: { begin, end }, sort_index: 'created' }).map(({ id }) => id);
export const of_day = ({ app, portal }) => between(app, portal.day_begin('2026-03-29'), portal.day_begin('2026-03-29', 1));
export const today = ({ app, portal, now }) => [
  between(app, portal.day_begin(), portal.day_begin(now, 1)),
  app.search('day == today', { names: { today: now.slice(0, 10) } }).map(({ id }) => id),
];
`,
  'apps/days/blocks/found_py.yaml': 'elements: { of_day: BASIC, today: BASIC }\n',
  'apps/days/blocks/found_py.py': `
def between(app, begin, end):
    found = app.search('begin <= created < end', names={'begin': begin, 'end': end}, sort_index='created')
    return [record.id for record in found]
def of_day(context):
    portal = context.portal
    return between(context.app, portal.day_begin('2026-03-29'), portal.day_begin('2026-03-29', 1))
def today(context):
    portal = context.portal
    found = context.app.search('day == today', names={'today': context.now[:10]})
    return [between(context.app, portal.day_begin(), portal.day_begin(context.now, 1)), [record.id for record in found]]
`,
};

/** The day of the site in searches (docs/reference/logic.md#the-sites-time), in both languages. */
export function daysOfTheSite(stage: Stage): void {
  describe.each(['found', 'found_py'])('records of a day by the time of the site, in %s', (block) => {
    beforeAll(async () => {
      await stage.send({ as: 'mona', send: 'DELETE days/records' });
      for (const [id, created] of Object.entries({
        before: '2026-03-28T22:59:59.999Z',
        first: '2026-03-28T23:00:00.000Z',
        last: '2026-03-29T21:59:59.999Z',
        after: '2026-03-29T22:00:00.000Z',
      }))
        await stage.put('days', id, { created, day: created.slice(0, 10) });
    });
    const found = async (element: string) => {
      const { status, text, json } = await stage.send({ send: `GET days/blocks/${block}/${element}` });
      expect(status, text).toBe(200);
      return json;
    };

    test('are those between its begin and the begin of the next day', async () => {
      expect(await found('of_day')).toEqual(['first', 'last']);
    });

    test('are those that were created today', async () => {
      const saved = await stage.send<{ id: string }>({ send: 'POST days', json: { block: 'entry' } });
      expect(saved.status, saved.text).toBe(201);
      const { id } = saved.json;
      expect(await found('today')).toEqual([[id], [id]]);
    });
  });
}
