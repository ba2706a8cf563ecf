import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html, type Person, type Row, type RowRequest } from '../../support/stage';
import { runTable } from '../../support/table';

export function viewPermission(stage: Stage): void {
  describe('view_permission guards pages, element calls and form posts', () => {
    const may: Record<string, Person[]> = {
      list: ['eric', 'nina', 'mona', 'root'],
      text: ['eric', 'nina', 'mona', 'root'],
      everyone: ['anonymous', 'una'],
      nobody: ['mona', 'root'],
      free: ['anonymous', 'una'],
    };
    const mayNot: Record<string, Person[]> = {
      list: ['anonymous', 'una', 'rita', 'readToken'],
      text: ['anonymous', 'una', 'rita'],
      everyone: [],
      nobody: ['anonymous', 'eric'],
      free: [],
    };
    const refused = (as: Person) => (as === 'anonymous' ? 401 : 403);
    const calls = (block: string): { title: string; send: string; rest: Partial<Row> }[] => [
      { title: 'the page', send: `GET guarded/blocks/${block}`, rest: { accept: html } },
      { title: 'the definition', send: `GET guarded/blocks/${block}`, rest: {} },
      { title: 'a form post', send: `POST guarded/blocks/${block}`, rest: { accept: html, form: { other: '' } } },
      ...(block === 'free'
        ? []
        : [
            { title: 'an element', send: `GET guarded/blocks/${block}/value`, rest: {} },
            { title: 'an element by POST', send: `POST guarded/blocks/${block}/value`, rest: {} },
          ]),
    ];
    runTable(
      stage,
      Object.keys(may).flatMap((block) =>
        calls(block).flatMap(({ title, send, rest }) => [
          ...may[block]!.map((as) => ({
            title: `${title} of the block ${block} is answered`,
            as,
            send,
            ...rest,
            status: 200,
          })),
          ...mayNot[block]!.map((as) => ({
            title: `${title} of the block ${block} is refused`,
            as,
            send,
            ...rest,
            status: refused(as),
            lacks: ['inner value', 'guarded list'],
          })),
        ]),
      ),
    );
    runTable(stage, [
      {
        title: 'saving is guarded too',
        send: 'POST guarded/blocks/list',
        accept: html,
        form: { _save: '' },
        status: 401,
      },
    ]);
  });

  describe('view_permission is checked wherever a block’s logic runs', () => {
    const block = 'approve';
    const ndjson = { 'content-type': 'application/x-ndjson' };
    interface Way extends Partial<Row> {
      name: string;
      send: string;
      /** The record `ID` at the beginning: of the guarded block, of no block, or none. */
      record?: 'guarded' | 'plain';
      /** The status for those whom the block's definition names. */
      status: number;
      /** The record that the block's logic makes when it runs, if it makes one. */
      leaves?: 'saved' | 'deleted';
    }
    const page = { accept: html };
    const ways: Way[] = [
      { name: '5 create', send: 'POST approval', json: { id: 'ID', block, title: 'x' }, status: 201, leaves: 'saved' },
      {
        name: '6 create many',
        send: 'POST approval/records',
        json: [{ id: 'ID-first' }, { id: 'ID', block, title: 'x' }],
        status: 201,
        leaves: 'saved',
      },
      {
        name: '6 as NDJSON',
        send: 'POST approval/records',
        body: '{"id":"ID-first"}\n{"id":"ID","block":"approve","title":"x"}\n',
        headers: ndjson,
        status: 201,
        leaves: 'saved',
      },
      {
        name: '7 create by id',
        send: 'PUT approval/record/ID',
        json: { block, title: 'x' },
        status: 201,
        leaves: 'saved',
      },
      {
        name: '8 delete',
        send: 'DELETE approval/record/ID',
        record: 'guarded',
        status: 200,
        leaves: 'deleted',
      },
      {
        name: '10 naming the block',
        send: 'PATCH approval/record/ID',
        json: { block, title: 'x' },
        record: 'plain',
        status: 200,
        leaves: 'saved',
      },
      ...['PATCH', 'POST'].map<Way>((method) => ({
        name: `10 by ${method} of a record of the block`,
        send: `${method} approval/record/ID`,
        json: { a: 2 },
        record: 'guarded',
        status: 200,
      })),
      {
        name: '10 by $inc',
        send: 'PATCH approval/record/ID',
        json: { $inc: { a: 1 } },
        record: 'guarded',
        status: 200,
      },
      ...[null, 'open'].map<Way>((other) => ({
        name: `10 out of the block, to ${other}`,
        send: 'PATCH approval/record/ID',
        json: { block: other },
        record: 'guarded',
        status: 200,
      })),
      { name: 'a record’s page', send: 'GET approval/record/ID', ...page, record: 'guarded', status: 200 },
      { name: 'its form', send: 'GET approval/record/ID/edit', ...page, record: 'guarded', status: 200 },
      {
        name: 'its form, saved',
        send: 'POST approval/record/ID',
        ...page,
        form: { title: 'x', _save: '' },
        record: 'guarded',
        status: 303,
      },
      {
        name: 'its form, deleting',
        send: 'POST approval/record/ID',
        ...page,
        form: { _delete: '' },
        record: 'guarded',
        status: 303,
        leaves: 'deleted',
      },
      { name: 'the block’s page', send: 'GET approval/blocks/approve', ...page, status: 200 },
      {
        name: 'its form, saved',
        send: 'POST approval/blocks/approve',
        ...page,
        form: { title: 'x', _save: '' },
        status: 303,
      },
      { name: 'an element', send: 'GET approval/blocks/approve/approved', status: 200 },
      { name: 'an element by POST', send: 'POST approval/blocks/approve/approved', status: 200 },
    ];
    let number = 0;
    const fresh = async ({ record }: Way): Promise<string> => {
      number += 1;
      const id = `way${number}`;
      if (record) await stage.put('approval', id, record === 'guarded' ? { block, title: 'x', a: 1 } : { a: 1 });
      return id;
    };
    const withId = (way: Way, id: string): RowRequest =>
      JSON.parse(
        JSON.stringify({ ...way, leaves: undefined, record: undefined, status: undefined }).replaceAll('ID', id),
      );
    const people: [Person, 'let in' | 401 | 403][] = [
      ['anonymous', 401],
      ['una', 403],
      ['createToken', 403],
      ['eric', 'let in'],
      ['mona', 'let in'],
    ];
    test.each(ways.flatMap((way) => people.map(([who, answer]) => ({ ...way, who, answer }))))(
      'view_permission is checked for $name | $who: $answer',
      async ({ who, answer, ...way }) => {
        const id = await fresh(way);
        const before = await stage.items('approval', id);
        const { status, text } = await stage.send({ as: who, ...withId(way, id) });
        expect(status, text).toBe(answer === 'let in' ? way.status : answer);
        const left = way.leaves && (await stage.items('approval', `${way.leaves}-${id}`));
        if (answer === 'let in') return way.leaves && expect(left).not.toBeNull();
        expect(text).not.toContain('secret words');
        expect(await stage.items('approval', id)).toEqual(before);
        expect(await stage.items('approval', `${id}-first`)).toBeNull();
        expect(left ?? null).toBeNull();
      },
    );

    const calls = ['approval/blocks/open', 'caller/blocks/call'].flatMap((from) =>
      ['save', 'display'].map((element) => ({ from, element })),
    );
    test.each(calls)('$element by logic of $from is checked for the requester', async ({ from, element }) => {
      const outcomes = [];
      for (const as of ['anonymous', 'una', 'eric', 'mona']) {
        const id = await fresh({ name: '', send: '', status: 200, record: 'guarded' });
        const { json, text } = await stage.send<string | { error?: { name: string } }>({
          as,
          send: `POST ${from}/${element}?id=${id}`,
        });
        // Logic catches the error, and answers with its name; that of a save ends the request.
        const name = typeof json === 'string' ? json : json.error?.name;
        outcomes.push(text.includes('secret words') ? 'saved' : name);
      }
      expect(outcomes).toEqual(['UnauthorizedError', 'ForbiddenError', 'saved', 'saved']);
    });

    test('a call from code is checked too, for the requester that it names', async () => {
      const outcomes = await stage.host.run(async (strapi) => {
        const { call } = strapi.plugin('apps').service('apps');
        const users = strapi.db.query('plugin::users-permissions.user');
        const as = async (username: string) => ({
          requester: {
            auth: {
              strategy: { name: 'users-permissions' },
              credentials: await users.findOne({ where: { username } }),
            },
          },
        });
        const outcome = (options: object) =>
          call('approval/approve/approved', options).catch((error: Error) => error.name) as Promise<string>;
        return [await outcome({}), await outcome(await as('una')), await outcome(await as('eric'))];
      });
      expect(outcomes).toEqual(['UnauthorizedError', 'ForbiddenError', 'yes']);
    });
  });
}
