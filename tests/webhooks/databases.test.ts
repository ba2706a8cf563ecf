import { beforeEach, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients, type Client } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { useReceiver } from './receiver';

/** The deliveries of transactions whose rows are found again after the commit, and of those that delete, on each database. */
describe.each(await availableClients())('webhooks on %s', onDatabase);

function onDatabase(client: Client): void {
  const receiver = useReceiver();
  const database = useDatabase(client);
  const themes = useThemes(async (copy) => {
    const hook = `{ url: '${receiver.url('/all')}', query: "n >= 10" }`;
    await copy.write('main/apps/desk/settings.yaml', `webhooks: { all: ${hook} }\n`);
    await copy.write('main/apps/desk/blocks/b.yaml', 'elements: { n: { type: NUMBER, index_type: field } }\n');
  });
  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: {
      ...database().address.env,
      ...configured({ apps: { fetch: { hosts: { desk: [receiver.host] }, private: [receiver.host] } } }),
    },
  }));
  beforeEach(() => receiver.clear());

  const lines = (count: number) => Array.from({ length: count }, (_, n) => JSON.stringify({ n })).join('\n');
  const numbers = (type: string) =>
    receiver
      .at('/all')
      .filter(({ json }) => json.type === `apps.record.${type}`)
      .map(({ json }) => Number(json.data?.items.n))
      .sort((one, other) => one - other);
  const from10 = (count: number) => Array.from({ length: count - 10 }, (_, n) => n + 10);

  test('several bulk creations at once deliver what matches, each record once, and their deletion too', async () => {
    const headers = { 'content-type': 'application/x-ndjson' };
    const send = { as: 'mona', send: 'POST desk/records', headers };
    const sizes = [260, 40, 260];
    const answers = await Promise.all(sizes.map((size) => stage.send({ ...send, body: lines(size) })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const expected = sizes.flatMap(from10).sort((one, other) => one - other);
    await expect.poll(() => numbers('create').length, { timeout: 60_000 }).toBe(expected.length);
    expect(numbers('create')).toEqual(expected);
    expect((await stage.send({ as: 'mona', send: 'DELETE desk/records' })).status).toBe(200);
    await expect.poll(() => numbers('delete').length, { timeout: 60_000 }).toBe(expected.length);
    expect(numbers('delete')).toEqual(expected);
  });

  test('one record, and nothing of a request that is refused', async () => {
    await stage.put('desk', 'a', { n: 50 });
    const refused = await stage.send({
      as: 'mona',
      send: 'POST desk/records',
      json: [{ id: 'b', n: 51 }, { id: 'a' }],
    });
    expect(refused.status).toBe(409);
    await stage.send({ as: 'mona', send: 'PATCH desk/record/a', json: { n: 52 } });
    await expect.poll(() => numbers('update')).toEqual([52]);
    expect(numbers('create')).toEqual([50]);
  });
}
