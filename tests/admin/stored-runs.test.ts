import { beforeAll, describe, expect, test } from 'vitest';
import type { RunAgain, RunDetail, RunsPage } from '../../plugins/apps/shared/admin/runs';
import type { Overview } from '../../plugins/apps/shared/admin-api';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes, useTwin } from '../support/hooks';
import { article } from '../support/seed';
import { html } from '../support/stage';

/** Runs that the database keeps, at least; up to as many more come before the oldest are deleted. */
const kept = 60;

const logic = `
export function value(context) {
  context.app.log('shown 🌍 to ' + context.app.acl.current_user());
  return 'fine';
}
export function add(context) {
  throw new Error('bad ' + context.request.form.name.length);
}
export function heard() {}
`;
const themes = useThemes({
  'main/apps/noted/settings.yaml': 'debug: true\nacl:\n  rights:\n    author: ["*"]\n    reader: ["*"]\n',
  'main/apps/noted/blocks/a.yaml': 'elements:\n  value: BASIC\n  add: { type: ACTION, label: Add }\n  name: TEXT\n',
  'main/apps/noted/blocks/a.html': '<p>{value}</p>{add}{name}',
  'main/apps/noted/blocks/a.js': logic,
});

describe.each(await availableClients())('runs in the database, on %s', (client) => {
  const database = useDatabase(client);
  const options = () => ({
    themesDirectory: themes.directory,
    env: { ...database().address.env, ...configured({ apps: { runs: { keep: 5, store: kept } } }) },
  });
  const stage = useStage(options);
  const twin = useTwin(stage, options);

  const asked = async <T>(send: string, as = 'root', json?: unknown): Promise<T> => {
    const answer = await stage.send<T>({ as, send, json });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.json;
  };
  const list = (query = '') => asked<RunsPage>(`GET /apps/runs?${query || 'limit=200'}`);
  const addresses = ({ runs }: RunsPage) => runs.map(({ address }) => address.replace(/^.*\?/, ''));
  const shown = (query: string, as = 'anonymous') => stage.send({ as, send: `GET noted/blocks/a/value?${query}` });

  beforeAll(async () => {
    for (let n = 0; n < 2 * kept + 10; n += 1) await shown(`n=${n}`);
  });

  test('they are bounded; pages and a tail give each once, the latest first', async () => {
    const page = await list();
    expect(page.stored).toBe(true);
    expect(page.runs.length).toBeGreaterThanOrEqual(kept);
    expect(page.runs.length).toBeLessThan(2 * kept);
    expect(addresses(page)[0]).toBe(`n=${2 * kept + 9}`);
    const found: string[] = [];
    for (let before: string | null = ''; before !== null; ) {
      const part: RunsPage = await list(`limit=25${before && `&before=${before}`}`);
      found.push(...addresses(part));
      before = part.older;
    }
    expect(found).toEqual(addresses(page));
    await shown('later=1');
    await shown('later=2');
    expect(addresses(await list(`after=${page.cursor}`))).toEqual(['later=2', 'later=1']);
  });

  test('they are filtered as those in memory', async () => {
    const rule = { name: 'hears', event: 'create', contentType: article, app: 'noted', block: 'a', function: 'heard' };
    const { id } = await asked<{ id: string }>('POST /apps/rules', 'ada', rule);
    await stage.host.run(
      (strapi, uid) => strapi.documents(uid as never).create({ data: { title: 'One' } as never }),
      article,
    );
    await shown('by=anna', 'anna');
    await stage.send({ send: 'POST noted/blocks/a', form: { 'action.add': 'Add', name: 'x' }, accept: html });
    await expect.poll(async () => (await list(`rule=${id}`)).runs).toHaveLength(1);
    const total = (await list()).runs.length;
    const count = async (query: string) => (await list(query)).runs.length;
    expect({
      rule: (await list(`rule=${id}`)).runs[0]?.rule?.id,
      otherRule: await count('rule=none'),
      anna: addresses(await list('requester=anna')),
      anonymous: await count('limit=200&requester=anonymous'),
      failed: await count('state=failed'),
      done: await count('limit=200&app=noted&site=site&block=a&state=done'),
      otherApp: await count('app=other'),
      otherBlock: await count('block=b'),
    }).toEqual({
      rule: id,
      otherRule: 0,
      anna: ['by=anna'],
      anonymous: total - 1,
      failed: 1,
      done: total - 1,
      otherApp: 0,
      otherBlock: 0,
    });
    const { sites } = await asked<Overview>('GET /apps/overview');
    expect(sites[0]?.apps.find((app) => app.id === 'noted')?.failedRuns).toBe(1);
  });

  test('each process has those of all, with log and input, across its end', async () => {
    const { cursor } = await list();
    const send = (query: string, init?: RequestInit) =>
      fetch(`${twin.url}/site/@@apps/noted/blocks/a${query}`, { headers: { accept: html }, ...init });
    await send('/value?x=twin');
    await expect.poll(async () => addresses(await list(`after=${cursor}`))).toEqual(['x=twin']);
    const name = '🌍'.repeat(5_000);
    await stage.send({ send: 'POST noted/blocks/a', form: { 'action.add': 'Add', name }, accept: html });
    const failed = (await list('state=failed')).runs[0];
    expect(await asked<RunDetail>(`GET /apps/runs/${failed?.id}`)).toMatchObject({ input: { form: { name } } });
    const again = await asked<RunAgain>(`POST /apps/runs/${failed?.id}/again`);
    expect(again).toMatchObject({ runs: [{ state: 'failed', error: { message: 'Error: bad 10000' } }] });
    const before = (await list()).cursor;
    await send('/value?x=last');
    await twin.stop();
    const [last] = (await list(`after=${before}`)).runs;
    expect(await asked<RunDetail>(`GET /apps/runs/${last?.id}`)).toMatchObject({
      logs: [{ message: 'shown 🌍 to null' }],
    });
  });
});
