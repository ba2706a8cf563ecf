import { describe, expect, test } from 'vitest';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { html, type RowRequest } from '../support/stage';

const acl = "acl: { rights: { editor: ['*'] } }\nvisitor: true\n";
const fields =
  'name: TEXT\n  email: { type: EMAIL, unique: true }\n  day: { type: SELECT, options: [{ value: mon, label: Monday, limit: 1 }, tue] }';
const layout =
  '{name} {email} {day} {_save}<p id="places">{{ block.places.taken }} of {{ block.places.limit }}, {{ block.places.left }} left, {{ block.places.waiting }} wait, {{ block.places.state }}</p>';

const app = {
  'apps/reg/settings.yaml': acl,
  'apps/reg/blocks/seat.yaml': `limit: 2\nfull: "Sorry, all {limit} are gone"\nelements:\n  ${fields}\n`,
  'apps/reg/blocks/seat.html': layout,
  'apps/reg/blocks/list.yaml': `limit: 1\nwaiting_list: true\nelements:\n  ${fields}\n`,
  'apps/reg/blocks/list.html': layout,
};

describe.each(await availableClients())('places on %s', (client) => {
  const themes = useThemes(async (copy) => {
    for (const [file, text] of Object.entries(app)) await copy.write(`main/${file}`, text);
  });
  const database = useDatabase(client);
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: { ...database().address.env } }));
  const ask = async (send: string, json?: object, more: Partial<RowRequest> = {}) => {
    const {
      status,
      json: answer,
      text,
    } = await stage.send<{ error?: { details: object } }>({ send, ...(json && { json }), ...more });
    return { status, details: answer?.error?.details, text };
  };

  test('a block takes as many records as its limit says', async () => {
    const seat = (name: string, more = {}) => ask('POST reg', { block: 'seat', name, ...more });
    expect((await seat('a', { day: 'mon' })).status).toBe(201);
    expect(await seat('b', { day: 'mon' })).toMatchObject({ status: 422, details: { errors: [{ path: ['day'] }] } });
    expect((await seat('b', { email: 'B@example.org' })).status).toBe(201);
    console.log(await ask('GET reg/blocks/seat', undefined, { accept: html }));
    expect(await seat('c')).toMatchObject({ status: 409, details: { code: 'full' } });
    console.log(await ask('GET reg/records'));
  });

  test('a waiting list', async () => {
    for (const id of ['one', 'two', 'three'])
      expect((await ask(`PUT reg/record/${id}`, { block: 'list', name: id })).status).toBe(201);
    console.log(await ask('GET reg/blocks/list', undefined, { accept: html }));
    expect((await ask('DELETE reg/record/one')).status).toBe(200);
    expect(await stage.items('reg', 'two')).not.toHaveProperty('_state');
    expect(await stage.items('reg', 'three')).toMatchObject({ _state: 'waiting' });
  });
});
