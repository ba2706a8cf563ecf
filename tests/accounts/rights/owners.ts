import { describe, expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import type { Stage } from '../../support/stage';
import { html, type Person, type RowRequest } from '../../support/stage';
import { runTable } from '../../support/table';

export function rightsOfOwners(stage: Stage): void {
  describe('owners', () => {
    test("an author may not touch another author's record, and it stays theirs when an editor changes it", async () => {
      await stage.put('rights', 'annas', { a: 0 }, 'anna');
      const patch = (as: Person) => stage.send({ as, send: 'PATCH rights/record/annas', json: { a: 1 } });
      expect((await patch('abel')).status).toBe(403);
      expect((await patch('eric')).status).toBe(200);
      expect((await patch('anna')).status).toBe(200);
      expect((await stage.send({ as: 'abel', send: 'DELETE rights/record/annas' })).status).toBe(403);
      expect((await stage.send({ as: 'anna', send: 'DELETE rights/record/annas' })).status).toBe(200);
    });

    const ways: [string, (id: string) => RowRequest][] = [
      ['operation 5', (id) => ({ send: 'POST rights', json: { id } })],
      ['operation 6', (id) => ({ send: 'POST rights/records', json: [{ id }] })],
      [
        'operation 6 as NDJSON',
        (id) => ({
          send: 'POST rights/records',
          body: JSON.stringify({ id }),
          headers: { 'content-type': 'application/x-ndjson' },
        }),
      ],
      ['operation 7', (id) => ({ send: `PUT rights/record/${id}`, json: {} })],
    ];
    test.each(ways)('%s stores the creator', async (way, request) => {
      const id = way.replace(/\W/g, '-');
      expect((await stage.send({ as: 'anna', ...request(id) })).status).toBe(201);
      expect((await stage.send({ as: 'abel', send: `PATCH rights/record/${id}`, json: {} })).status).toBe(403);
      expect((await stage.send({ as: 'anna', send: `PATCH rights/record/${id}`, json: { a: 1 } })).status).toBe(200);
      expect(Object.keys((await stage.items('rights', id)) ?? {}).sort()).toEqual(['a', 'id']);
    });

    test.each(['creator', '_creator', 'owner', 'author', 'createdBy', 'created_by'])(
      'an item "%s" is no creator',
      async (name) => {
        const { documentId } = await stage.host.run((strapi) =>
          strapi.db.query('plugin::users-permissions.user').findOne({ where: { username: 'abel' } }),
        );
        const id = `claim-${name}`;
        await stage.put('rights', id, { [name]: `user:${documentId}` }, 'mona');
        expect((await stage.send({ as: 'abel', send: `DELETE rights/record/${id}` })).status).toBe(403);
      },
    );

    test('a form stores the creator too', async () => {
      const answer = await stage.send({
        as: 'anna',
        send: 'POST rights/blocks/form',
        accept: html,
        form: { name: 'by form', _save: '' },
      });
      expect(answer.status).toBe(303);
      const path = locationOf(answer).pathname;
      expect((await stage.send({ as: 'abel', send: `PATCH ${path}`, json: {} })).status).toBe(403);
      expect((await stage.send({ as: 'anna', send: `PATCH ${path}`, json: {} })).status).toBe(200);
    });
  });

  describe('what logic sees of rights', () => {
    const who = 'GET rights/blocks/form/who';
    const none = { rights: [], moderator: false, roles: ['moderator'], manager: false };
    runTable(stage, [
      {
        title: 'logic sees the groups of an anonymous requester',
        send: who,
        status: 200,
        gives: { ...none, groups: ['Public'] },
      },
      {
        title: 'logic sees no rights of a stranger',
        as: 'una',
        send: who,
        status: 200,
        is: { ...none, user: 'una', groups: ['strangers'] },
      },
      {
        title: 'logic sees rights and roles by name',
        as: 'nina',
        send: who,
        status: 200,
        gives: { user: 'nina', rights: ['reader'], moderator: true, roles: ['moderator'] },
      },
      {
        title: 'logic sees rights and roles by group',
        as: 'eric',
        send: who,
        status: 200,
        gives: { user: 'eric', groups: ['editors'], moderator: true, roles: ['moderator'], manager: false },
      },
      {
        title: 'logic sees who is a manager',
        as: 'mona',
        send: who,
        status: 200,
        gives: { user: 'mona', manager: true },
      },
    ]);
    test('logic sees the editor right of an editor', async () => {
      const { json } = await stage.send<{ rights: string[] }>({ as: 'eric', send: who });
      expect(json.rights).toContain('editor');
    });
  });
}
