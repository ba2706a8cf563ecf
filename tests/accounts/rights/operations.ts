import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html, type Person, type Row } from '../../support/stage';
import { expectAnswer, runTable } from '../../support/table';

interface Operation {
  name: string;
  /** `ID` stands for a fresh record. */
  send: string;
  rest?: Partial<Row>;
  /** Creator of the record: another user, the requester, or no record at all. */
  record?: 'foreign' | 'own';
  /** The needed right, and the status for requesters who have it. */
  needs: 'nothing' | 'view' | 'create' | 'edit' | 'editOwn' | 'delete' | 'deleteOwn' | 'deleteAll' | 'manage';
  status: number;
}

const operations: Operation[] = [
  { name: '1 settings', send: 'GET APP', needs: 'nothing', status: 200 },
  { name: '3 get', send: 'GET APP/record/ID', record: 'foreign', needs: 'view', status: 200 },
  {
    name: '3 a page',
    send: 'GET APP/record/ID',
    rest: { accept: html },
    record: 'foreign',
    needs: 'view',
    status: 200,
  },
  { name: '4 list', send: 'GET APP/records', needs: 'view', status: 200 },
  { name: '5 create', send: 'POST APP', rest: { json: { a: 1 } }, needs: 'create', status: 201 },
  { name: '6 create many', send: 'POST APP/records', rest: { json: [{ a: 1 }] }, needs: 'create', status: 201 },
  { name: '7 create by id', send: 'PUT APP/record/ID', rest: { json: { a: 1 } }, needs: 'create', status: 201 },
  { name: '8 delete a foreign one', send: 'DELETE APP/record/ID', record: 'foreign', needs: 'delete', status: 200 },
  { name: '8 delete their own', send: 'DELETE APP/record/ID', record: 'own', needs: 'deleteOwn', status: 200 },
  {
    name: '10 update a foreign one',
    send: 'PATCH APP/record/ID',
    rest: { json: { a: 2 } },
    record: 'foreign',
    needs: 'edit',
    status: 200,
  },
  {
    name: '10 update their own',
    send: 'PATCH APP/record/ID',
    rest: { json: { a: 2 } },
    record: 'own',
    needs: 'editOwn',
    status: 200,
  },
  {
    name: '10 by POST',
    send: 'POST APP/record/ID',
    rest: { json: { a: 2 } },
    record: 'foreign',
    needs: 'edit',
    status: 200,
  },
  { name: '11 search', send: 'POST APP/search', rest: { json: {} }, needs: 'view', status: 200 },
  { name: '12 re-index', send: 'POST APP/refresh', needs: 'manage', status: 200 },
  { name: '9 delete all', send: 'DELETE APP/records', needs: 'deleteAll', status: 200 },
];

type Need = Operation['needs'];

const reader: Need[] = ['view'];

const author: Need[] = ['view', 'create', 'editOwn', 'deleteOwn'];

const editor: Need[] = [...author, 'edit', 'delete', 'deleteAll'];

const submitter: Need[] = ['create'];

const manager: Need[] = [...editor, 'manage'];

let count = 0;

/** Allowed operations of each right, by kind of requester. */
export function rightsToOperations(stage: Stage): void {
  /** One test for each operation and requester: what they may do, and 401 or 403 for everything else. */
  function matrix(app: string, requesters: Record<Person, Need[]>): void {
    for (const [who, may] of Object.entries(requesters)) {
      test.each(operations.filter(({ record }) => record !== 'own' || (may.includes('create') && who !== 'anonymous')))(
        `${who} in the app ${app}: operation $name`,
        async ({ send, rest, record, needs, status }) => {
          count += 1;
          const id = `r${count}`;
          if (record) await stage.put(app, id, { a: 0 }, record === 'own' ? who : 'mona');
          const allowed = needs === 'nothing' || may.includes(needs);
          const line = send.replace('APP', app).replace('ID', id);
          const answer = await stage.send({ as: who, send: line, ...rest });
          const refusal =
            who === 'anonymous'
              ? { status: 401, error: 'UnauthorizedError' }
              : { status: 403, error: 'ForbiddenError' };
          const { status: refused, error } = refusal;
          expectAnswer(
            answer,
            allowed ? { status } : { status: refused, error: rest?.accept === html ? undefined : error },
          );
          if (!allowed && record) expect(await stage.items(app, id)).toEqual({ a: 0, id });
          if (!allowed && needs === 'create') expect(await stage.items(app, id)).toBeNull();
        },
      );
    }
  }

  describe('acl by groups and names', () => {
    matrix('rights', {
      anonymous: [],
      una: [],
      rita: reader,
      nina: reader,
      anna: author,
      eric: editor,
      sam: submitter,
      mona: manager,
      root: manager,
      fullToken: manager,
    });
  });

  describe("acl with '*'", () => {
    matrix('all-reader', { anonymous: reader, una: reader });
    // "Anonymous owns nothing": an anonymous author creates, and changes nothing afterwards.
    matrix('all-author', { anonymous: ['view', 'create'], una: author });
    matrix('all-editor', { anonymous: editor, una: editor });
    matrix('all-submitter', { anonymous: submitter, una: submitter });
  });

  describe('without acl: Strapi permissions', () => {
    matrix('plain', {
      anonymous: [],
      una: [],
      eric: [],
      finder: ['view'],
      updater: ['edit', 'editOwn'],
      deleter: ['delete', 'deleteOwn', 'deleteAll'],
      mona: manager,
      readToken: ['view'],
      findToken: ['view'],
      manageToken: manager,
      fullToken: manager,
      root: manager,
      ada: manager,
      olga: [],
    });

    // One may create without seeing, changing or deleting. The specification leaves open what Strapi permissions mean for own records.
    runTable(stage, [
      { title: 'a creator may create', as: 'creator', send: 'PUT plain/record/made', json: {}, status: 201 },
      { title: 'a creator may create many', as: 'creator', send: 'POST plain/records', json: [{}], status: 201 },
      {
        title: 'a creator may not list',
        as: 'creator',
        send: 'GET plain/records',
        status: 403,
        error: 'ForbiddenError',
      },
      { title: 'a token to create may create', as: 'createToken', send: 'POST plain', json: {}, status: 201 },
      {
        title: 'a token to create may not list',
        as: 'createToken',
        send: 'GET plain/records',
        status: 403,
        error: 'ForbiddenError',
      },
      { title: 'permissions add to an acl', as: 'finder', send: 'GET rights/records', status: 200 },
      { title: 'a read-only token reads everywhere', as: 'readToken', send: 'GET rights/records', status: 200 },
      {
        title: 'a read-only token writes nowhere',
        as: 'readToken',
        send: 'POST plain',
        json: {},
        status: 403,
        error: 'ForbiddenError',
      },
    ]);
  });
}
