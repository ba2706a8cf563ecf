import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes, useTwin } from '../support/hooks';
import type { Host } from '../support/host';
import { useTimer } from '../support/timers';
import { talkApp } from './live/app';
import { connect, type LivePage, settingsOf } from './live/page';
import { type Comment, dice, type Write, Writer } from './live/writer';

const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(talkApp)) await copy.write(`main/${file}`, text);
});

const seed = Number(process.env.TEST_SEED ?? 7);
const rounds = Number(process.env.TEST_ROUNDS ?? 3);

/** Which comments a block shows, and whether it shows their number alone. */
interface Shown {
  block: string;
  has(comment: Comment): boolean;
  isCount?: boolean;
}

const of = (article: string): Shown[] => [
  { block: `latest?article=${article}`, has: (comment) => comment.article === article },
  { block: `number?article=${article}`, has: (comment) => comment.article === article, isCount: true },
];
const blocks: Shown[] = [
  ...['a', 'b', 'c', 'none'].flatMap(of),
  { block: 'found', has: ({ text, stars }) => text.includes('great') && stars > 3 },
  { block: 'all', has: () => true, isCount: true },
];

const isWoken = ({ has, isCount }: Shown, writes: readonly Write[]) =>
  writes.some(({ changes }) =>
    changes.some(({ before, after }) => {
      const [was, is] = [before !== null && has(before), after !== null && has(after)];
      return isCount ? was !== is : was || is;
    }),
  );

const clients = await availableClients();
const [first] = clients;

describe.each(clients)('live blocks in two processes, on %s', (client) => {
  const database = useDatabase(client);
  const options = () => ({ themesDirectory: themes.directory, env: database().address.env });
  const stage = useStage(options);
  const twin = useTwin(stage, options);
  const hosts = () => [stage.host, twin];
  /** What deletes old changes, a minute after the first one (processes/messages.ts). */
  const deleting = useTimer(stage.host, { milliseconds: 61_000 });
  const opened: { shown: Shown; name: string; host: Host; page: LivePage; before: number }[] = [];
  let writer: Writer;

  beforeAll(async () => {
    writer = new Writer(stage, hosts(), dice(seed), await stage.csrf('mona'));
    for (const host of hosts())
      for (const shown of blocks) {
        const page = await connect(host, await settingsOf(host, shown.block));
        opened.push({ shown, name: `${shown.block} of ${hosts().indexOf(host)}`, host, page, before: 0 });
      }
  });
  afterAll(() => Promise.all(opened.map(({ page }) => page.end())));

  const names = (list: typeof opened) => list.map(({ name }) => name).sort();
  const woken = () => names(opened.filter(({ page, before }) => page.woken() > before));

  test('pages are woken by the changes that concern them, and by no others', { timeout: 300_000 }, async () => {
    for (let round = 0; round < rounds; round += 1) {
      for (const one of opened) one.before = one.page.woken();
      const writes: Write[] = [];
      for (let n = 0; n < 1 + (round % 3); n += 1) writes.push(await writer.write());
      const expected = names(opened.filter(({ shown }) => isWoken(shown, writes)));
      const about = JSON.stringify({ seed, round, writes });
      await expect
        .poll(() => expected.filter((name) => !woken().includes(name)), { timeout: 10_000, message: about })
        .toEqual([]);
      // What another process has not to say comes within a second, too.
      await pause(1_500);
      expect(woken(), about).toEqual(expected);
    }
  });

  test.each(['the same process', 'the other process'])(
    'a change between the rendering and the connection, in %s, is not missed',
    async (which) => {
      const host = which === 'the same process' ? stage.host : twin;
      const settings = await settingsOf(host, 'latest?article=between');
      const others = await settingsOf(host, 'latest?article=beside');
      await stage.put('talk', `between-${hosts().indexOf(host)}`, { article: 'between' });
      const [page, other] = [await connect(host, settings), await connect(host, others)];
      await expect.poll(page.woken, { timeout: 5_000 }).toBeGreaterThan(0);
      const known = page.position();
      await page.end();
      expect(other.woken()).toBe(0);
      await other.end();
      if (host !== stage.host) return;
      // A browser that connects again says what it has seen.
      await pause(50);
      const again = await connect(host, settings, known);
      await pause(1_500);
      expect(again.woken()).toBe(0);
      await again.end();
    },
  );

  test('a page that was away for longer than changes are kept is woken', async () => {
    const settings = await settingsOf(stage.host, 'latest?article=away');
    for (const since of ['', 'forged', settings.since.replace(/\.\d+$/, '.1700000000000')]) {
      const page = await connect(stage.host, { ...settings, since });
      await expect.poll(page.woken).toBe(1);
      await page.end();
    }
  });

  test('a forged token, and one of other app keys, is ignored', async () => {
    const { live, since } = await settingsOf(stage.host, 'latest?article=forged');
    const [token = ''] = live;
    const forged = Array.from(
      { length: 20 },
      (_, n) => token.slice(0, 3 * n) + (token[3 * n] === 'A' ? 'B' : 'A') + token.slice(3 * n + 1),
    );
    const page = await connect(stage.host, {
      live: [...forged, Buffer.from(JSON.stringify(['any', 'site', 'talk'])).toString('base64url')],
      since,
    });
    const right = await connect(stage.host, { live, since });
    await stage.put('talk', 'forged', { article: 'forged' });
    await expect.poll(right.woken).toBe(1);
    expect(page.woken()).toBe(0);
    for (const one of [page, right]) await one.end();
  });

  // One statement: the first database is enough. messages.test.ts waits for the time.
  test.runIf(client === first)('what other processes read is deleted', async () => {
    const where = { records: { $contains: 'forged' } };
    const rows = () =>
      stage.host.run((strapi, where) => strapi.db.query('plugin::apps.change').findMany({ where }), where);
    await expect.poll(async () => (await rows()).length).toBeGreaterThan(0);
    await stage.host.run(
      (strapi, createdAt) => strapi.db.query('plugin::apps.change').updateMany({ where: {}, data: { createdAt } }),
      new Date(Date.now() - 61_000).toISOString(),
    );
    await deleting.fire();
    await expect.poll(rows).toEqual([]);
  });
});
