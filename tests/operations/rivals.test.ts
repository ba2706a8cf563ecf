import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useHost, useThemes } from '../support/hooks';
import type { Host } from '../support/host';
import { type Answer, type Message, send } from '../support/send';

/**
 * Requests for a tenth as many places: `RIVALS=500 TEST_DATABASES=sqlite npm run test:e2e -- tests/operations/rivals` prints their
 * times and attempts too.
 */
const rivals = Number(process.env.RIVALS ?? 40);
const places = rivals / 10;

/** Many at once on few processors: what is tested is who gets a place, not how soon. */
const limits = { formPosts: 0, formTime: 0 };

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const fields = 'elements: { name: TEXT, mail: { type: EMAIL, unique: true } }';

/** Blocks whose definitions have the limits: one of each kind for one process, and for two. */
const limited = Object.fromEntries(
  [1, 2].flatMap((count) =>
    Object.entries({
      seat: `limit: ${places}\n${fields}`,
      list: `limit: ${places}\nwaiting_list: true\n${fields}`,
      day: `elements: { day: { type: SELECT, options: [{ value: mon, limit: ${places} }, tue] } }`,
      mail: fields,
      once: 'limit_per_requester: 1\nelements: { name: TEXT }',
      stated: 'states: { new: { to: [yes, no] }, yes: {}, no: {} }\nelements: { name: TEXT }',
    }).flatMap(([name, text]) => [
      [`apps/limits/blocks/${name}${count}.yaml`, text],
      [`apps/limits/blocks/${name}${count}.html`, '{name} {mail} {day} {_save}'],
    ]),
  ),
);

/** What an error says of a record for which there is no place. */
interface Details {
  code?: string;
  errors?: { path: string[] }[];
}

/** The counter that each host's process gets. */
type Counting = typeof globalThis & { repeated: number };

/** Counts how often units of work run again in the host's process. */
const countRepeated = (host: Host) =>
  host.run((strapi) => {
    const store = strapi.plugin('apps').service('records').store();
    const { transact } = store;
    (globalThis as Counting).repeated = 0;
    store.transact = (work: (unit: unknown) => unknown, about: unknown) => {
      let runs = 0;
      return transact((unit: unknown) => {
        if (runs > 0) (globalThis as Counting).repeated += 1;
        runs += 1;
        return work(unit);
      }, about);
    };
  });

describe.each(await availableClients())('rivals on %s', (client) => {
  const themes = useThemes(async (copy) => {
    await copy.write('main/apps/limits/settings.yaml', "acl: { rights: { editor: ['*'] } }\nvisitor: true");
    for (const [file, text] of Object.entries(limited)) await copy.write(`main/${file}`, text);
  });
  const database = useDatabase(client);
  const options = () => {
    // All forms come from one address.
    const env = { APPS_THEME: 'main', ...configured({ apps: { limits } }), ...database().address.env };
    return { themesDirectory: themes.directory, env };
  };
  const hosts = [useHost(options), useHost(options)];
  let token = '';

  const ask = (at: number, message: Partial<Message>) =>
    send<unknown>((hosts[at % hosts.length] as Host).url, {
      method: 'POST',
      path: '/site/@@apps/places',
      ...message,
      // A connection of its own: one that is kept may be closed by the server just when it is used again.
      headers: { accept: 'application/json', connection: 'close', 'x-csrf-token': token, ...message.headers },
    });
  const found = async (query: string): Promise<{ items: { name: string } }[]> => {
    const json = { query, limit: 1_000 };
    return (await ask(0, { path: '/site/@@apps/places/search', json })).json as [];
  };

  beforeAll(async () => {
    token = String((await ask(0, { method: 'GET' })).headers['x-csrf-token']);
    for (const host of hosts) await countRepeated(host);
    expect(await found("way == 'none' or name == 'none'")).toEqual([]);
  });

  const repeated = async () =>
    (await Promise.all(hosts.map((host) => host.run(() => (globalThis as Counting).repeated)))).reduce((a, b) => a + b);

  /** What was answered: the author's message, or the status with the text of another answer. */
  const outcomeOf = ({ status, text, json }: Answer) => {
    const told = /No place is left/.exec(text)?.[0];
    const { code = null, errors = null } = (json as { error?: { details: Details } } | undefined)?.error?.details ?? {};
    if (code !== null) return `${status} ${code}`;
    if (errors?.[0]?.path[0]) return `${status} ${errors[0].path[0]}`;
    if (told || status >= 400) return `${status} ${told ?? text.slice(-400)}`;
    return typeof json === 'string' ? json : String(status);
  };

  /** Sends all at once; returns how many had which outcome. */
  async function compete(
    name: string,
    processes: number,
    message: (at: number) => Partial<Message>,
  ): Promise<Record<string, number>> {
    const before = await repeated();
    const begin = performance.now();
    const answers = await Promise.all(times(rivals, (at) => ask(processes === 1 ? 0 : at, message(at))));
    const time = (performance.now() - begin) / 1_000;
    const outcomes: Record<string, number> = {};
    for (const outcome of answers.map(outcomeOf)) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const again = (await repeated()) - before;
    if (process.env.RIVALS)
      console.log(
        `| ${client} | ${processes} | ${name} | ${time.toFixed(1)} s | ${again} | ${JSON.stringify(outcomes)} |`,
      );
    return outcomes;
  }

  describe.each([1, 2])(`${rivals} for ${places} places, through %d`, (processes) => {
    const way = (name: string) => `${name}-${processes}-${places}`;
    const ofWay = async (name: string) => (await found(`way == '${way(name)}'`)).length;

    test('forms that are checked by a count', async () => {
      const form = (at: number) => ({
        path: '/site/@@apps/places/blocks/seat',
        headers: { accept: 'text/html' },
        form: { way: way('form'), name: `Form ${at}`, _save: '' },
      });
      expect(await compete('form', processes, form)).toEqual({
        303: places,
        '422 No place is left': rivals - places,
      });
      expect(await ofWay('form')).toBe(places);
    });

    test('records as JSON', async () => {
      const record = { json: { block: 'seat', way: way('json') } };
      expect(await compete('JSON', processes, () => record)).toEqual({
        201: places,
        '422 No place is left': rivals - places,
      });
      expect(await ofWay('json')).toBe(places);
    });

    test('actions that go through all records', async () => {
      const path = `/site/@@apps/places/blocks/seat/listed?way=${way('listed')}`;
      expect(await compete('action', processes, () => ({ path, json: {} }))).toEqual({
        booked: places,
        full: rivals - places,
      });
      expect(await ofWay('listed')).toBe(places);
    });

    test('one vote for each name', async () => {
      const name = (at: number) => `voter${at % places}-${processes}`;
      const vote = (at: number) => ({ path: `/site/@@apps/places/blocks/seat/vote?name=${name(at)}`, json: {} });
      expect(await compete('vote', processes, vote)).toEqual({
        voted: places,
        'voted before': rivals - places,
      });
      const names = (await found("name >= 'voter' and name < 'votes'")).map(({ items }) => items.name);
      const own = names.filter((voter) => voter.endsWith(`-${processes}`));
      expect(own.sort()).toEqual(times(places, name).sort());
    });

    const limits = '/site/@@apps/limits';
    const stored = async (block: string): Promise<{ items: Record<string, string> }[]> =>
      ((await ask(0, { method: 'GET', path: `${limits}/records` })).json as { items: Record<string, string> }[]).filter(
        ({ items }) => items.block === `${block}${processes}`,
      );

    test('the limit of a block, as JSON and by its form', async () => {
      const json = (at: number) => ({ path: limits, json: { block: `seat${processes}`, name: `JSON ${at}` } });
      const form = (at: number) => ({
        path: `${limits}/blocks/seat${processes}`,
        json: { name: `Form ${at}`, _save: '1' },
      });
      const outcomes = await compete('limit', processes, (at) => (at % 4 < 2 ? json(at) : form(at)));
      const { '409 full': refused, ...rest } = outcomes;
      expect(refused).toBe(rivals - places);
      expect(Object.values(rest).reduce((a, b) => a + b)).toBe(places);
      expect(Object.keys(rest).every((status) => ['200', '201', '303'].includes(status))).toBe(true);
      expect(await stored('seat')).toHaveLength(places);
    });

    test('a waiting list, whose places are given back at the same time', async () => {
      const json = (at: number) => ({ path: `${limits}/record/w${processes}-${at}` });
      const make = (at: number) => ({ ...json(at), method: 'PUT', json: { block: `list${processes}` } });
      expect(await compete('waiting list', processes, make)).toEqual({ 201: rivals });
      const waiting = async () => (await stored('list')).filter(({ items }) => items._state === 'waiting');
      expect(await waiting()).toHaveLength(rivals - places);
      const taken = (await stored('list')).filter(({ items }) => !items._state);
      const gone = taken.slice(0, places / 2).map(({ items }) => items.id as string);
      const left = await Promise.all(
        gone.flatMap((id, at) => [
          ask(processes === 1 ? 0 : at, { path: `${limits}/record/${id}`, method: 'DELETE' }),
          ask(processes === 1 ? 0 : at + 1, { path: limits, json: { block: `list${processes}`, name: `late ${id}` } }),
        ]),
      );
      expect(new Set(left.map(({ status }) => status))).toEqual(new Set([200, 201]));
      expect((await stored('list')).filter(({ items }) => !items._state)).toHaveLength(places);
      expect(await waiting()).toHaveLength(rivals - places);
    });

    test('one change of a state to states from which no way leads', async () => {
      const path = `${limits}/record/stated${processes}`;
      await ask(0, { path, method: 'PUT', json: { block: `stated${processes}` } });
      const change = (at: number) => ({ path, method: 'PATCH', json: { state: at % 2 ? 'yes' : 'no', name: `${at}` } });
      const answers = await Promise.all(times(rivals, (at) => ask(processes === 1 ? 0 : at >> 1, change(at))));
      const [{ items } = { items: {} as Record<string, string> }] = await stored('stated');
      // Those who ask for the state that it has got change no state.
      expect(['yes', 'no']).toContain(items.state);
      for (const [at, answer] of answers.entries())
        expect(outcomeOf(answer), String(at)).toBe((at % 2 ? 'yes' : 'no') === items.state ? '200' : '409 state');
    });

    test('the limit of an option', async () => {
      const record = { path: limits, json: { block: `day${processes}`, day: 'mon' } };
      expect(await compete('option', processes, () => record)).toEqual({ 201: places, '422 day': rivals - places });
      expect(await stored('day')).toHaveLength(places);
    });

    test('each visitor once, though each sends twice', async () => {
      const form = { method: 'GET', path: `${limits}/blocks/once${processes}`, headers: { accept: 'text/html' } };
      const visitors: string[] = [];
      for (let at = 0; at < rivals * 0.4; at += 1) {
        const cookies = [(await ask(0, form)).headers['set-cookie'] ?? []].flat();
        visitors.push(cookies.find((one) => one.startsWith('apps_visitor='))?.split(';', 1)[0] ?? '');
      }
      const twice = visitors.flatMap((cookie) => [0, 1].map((at) => ({ cookie, at })));
      const answers = await Promise.all(
        twice.map(({ cookie, at }) =>
          ask(processes === 1 ? 0 : at, { path: limits, json: { block: `once${processes}` }, headers: { cookie } }),
        ),
      );
      const counted: Record<string, number> = {};
      for (const outcome of answers.map(outcomeOf)) counted[outcome] = (counted[outcome] ?? 0) + 1;
      if (process.env.RIVALS) console.log(`| ${client} | ${processes} | sent twice | ${JSON.stringify(counted)} |`);
      expect(counted).toEqual({ 201: visitors.length, '409 once': visitors.length });
      expect(await stored('once')).toHaveLength(visitors.length);
    });

    test('unique addresses', async () => {
      const address = (at: number) => `${at % 2 ? 'P' : 'p'}erson${Math.floor(at / 2) % places}@Example.org`;
      const record = (at: number) => ({ path: limits, json: { block: `mail${processes}`, mail: address(at) } });
      expect(await compete('unique', processes, record)).toEqual({ 201: places, '422 mail': rivals - places });
      expect(await stored('mail')).toHaveLength(places);
    });
  });
});
