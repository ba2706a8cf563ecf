import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import draftType from '../content-types/draft/schema.json';
import fileType from '../content-types/file/schema.json';
import { createSql, dialects } from '../database';
import { availableClients, createTestDatabase, type TestDatabase } from '../database/testing/databases';
import { createContentTables } from '../records/testing/content-tables';
import { createDrafts } from './drafts';
import type { Drafts, NewDraft } from './types';

const key = { site: 'site', app: 'app' };
const MINUTE = 60_000;

describe.each(await availableClients())('drafts on %s', (client) => {
  let database: TestDatabase;
  let drafts: Drafts;
  const clock = { now: 1_000_000 };
  /** What another process does before the next transaction. */
  let meanwhile: (() => Promise<unknown>) | null = null;
  const released: [app: string, files: readonly string[]][] = [];

  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    await createContentTables(database.knex, [draftType, fileType]);
    drafts = createDrafts({
      database: {
        ...database.host,
        async transaction(work) {
          const other = meanwhile;
          meanwhile = null;
          await other?.();
          return database.host.transaction(work);
        },
      },
      keyring: {
        sign: (parts) => Buffer.from(parts.join().padEnd(32, '=')).subarray(0, 32).toString('base64url'),
        verify: () => true,
      },
      limits: { drafts: 6, draftsOfSender: 4, draftSize: 80_000 },
      released: async ({ app }, files) => void released.push([app, [...files].sort()]),
      onError: (error) => {
        throw error;
      },
      now: () => clock.now,
    });
  });
  afterAll(() => database.destroy());

  const draft = (given: Partial<NewDraft> = {}, fields: Record<string, string[]> = {}): NewDraft => ({
    draftId: drafts.newId(),
    key,
    block: 'form',
    owner: null,
    sender: 'one',
    content: { fields, inputs: {}, files: [] },
    endsAt: clock.now + MINUTE,
    ...given,
  });
  const write = (work: ReturnType<Drafts['save']>) =>
    database.host.transaction((trx) => work(createSql(trx, dialects[client])));
  const fileOf = (documentId: string, size = 1) => ({
    id: 1,
    documentId,
    name: 'a.pdf',
    url: '/a',
    mime: 'application/pdf',
    size,
  });
  const withFiles = (ids: string[], given: Partial<NewDraft> = {}) => {
    const made = draft(given);
    return { ...made, content: { ...made.content, files: ids.map((id) => fileOf(id)) } };
  };
  const addFile = (file: string, app = 'app') => database.knex('apps_files').insert({ file, site: 'site', app });

  test('a draft is found until it is over, and keeps its files so long', async () => {
    for (const file of ['f1', 'f2']) await addFile(file);
    await addFile('f1', 'other');
    const made = withFiles(['f1', 'f2'], { owner: 'user:1' });
    await write(drafts.save(made, true));
    expect(await drafts.find(key, drafts.token(made))).toMatchObject({ ...made, isSent: false });
    expect(await drafts.find({ ...key, app: 'other' }, drafts.token(made))).toBeNull();
    expect(await drafts.namedFiles(key, ['f1', 'f2', 'f3'])).toEqual(new Set(['f1', 'f2']));
    expect(await drafts.namedFiles({ ...key, app: 'other' }, ['f1'])).toEqual(new Set());
    await write(drafts.save({ ...made, content: { ...made.content, files: [fileOf('f2')] } }, false));
    expect(await drafts.namedFiles(key, ['f1', 'f2'])).toEqual(new Set(['f2']));
    clock.now += MINUTE;
    expect(await drafts.find(key, drafts.token(made))).toBeNull();
    await expect(write(drafts.save(made, false))).rejects.toMatchObject({ name: 'ConflictError' });
    await expect(write(drafts.sent(made))).rejects.toMatchObject({ name: 'ConflictError' });
    await drafts.prune();
    expect(released.splice(0)).toEqual([['app', ['f2']]]);
    expect(await database.knex('apps_drafts').select()).toEqual([]);
  });

  test('one that was sent has no content, gives its files away, and is forgotten after a day', async () => {
    await addFile('g1');
    const made = withFiles(['g1']);
    await write(drafts.save(made, true));
    await write(drafts.sent(made));
    expect(await drafts.find(key, drafts.token(made))).toMatchObject({
      isSent: true,
      content: { fields: {}, files: [] },
    });
    expect(await drafts.namedFiles(key, ['g1'])).toEqual(new Set());
    await expect(write(drafts.sent(made))).rejects.toMatchObject({ name: 'ConflictError' });
    expect(await drafts.remove(key, made.draftId)).toBe(false);
    expect((await drafts.list(key, 10)).total).toBe(0);
    clock.now += 24 * 60 * MINUTE;
    await drafts.prune();
    expect([released.splice(0), (await database.knex('apps_drafts').select()).length]).toEqual([[], 0]);
  });

  test('of its app alone one is removed, and listed', async () => {
    const made = draft();
    for (const one of [made, draft({ key: { ...key, app: 'other' } }), draft(), draft()])
      await write(drafts.save(one, true));
    expect(await drafts.remove({ ...key, app: 'other' }, made.draftId)).toBe(false);
    expect(await drafts.remove(key, made.draftId)).toBe(true);
    expect(await drafts.remove(key, made.draftId)).toBe(false);
    expect((await drafts.list(key, 1)).drafts).toHaveLength(1);
    expect((await drafts.list(key, 1)).total).toBe(2);
    await database.knex('apps_drafts').delete();
  });

  test('one that is saved or sent while it is removed stays, and its files stay with it', async () => {
    for (const file of ['h1', 'h2', 'h3', 'h4']) await addFile(file);
    const [saved, over] = [withFiles(['h1']), withFiles(['h2'])];
    for (const one of [saved, over]) await write(drafts.save(one, true));
    clock.now += MINUTE;
    const row = { draft_id: saved.draftId };
    meanwhile = () =>
      database
        .knex('apps_drafts')
        .where(row)
        .update({ ends_at: clock.now + MINUTE });
    await drafts.prune();
    expect(await drafts.find(key, drafts.token(saved))).not.toBeNull();
    expect(await drafts.find(key, drafts.token(over))).toBeNull();
    expect(released.splice(0)).toEqual([['app', ['h2']]]);
    meanwhile = () => write(drafts.sent(saved));
    expect(await drafts.remove(key, saved.draftId)).toBe(false);
    expect(await drafts.find(key, drafts.token(saved))).toMatchObject({ isSent: true });
    // The files are those of the moment at which it goes.
    const changed = withFiles(['h3']);
    await write(drafts.save(changed, true));
    meanwhile = () => write(drafts.save({ ...changed, content: withFiles(['h4']).content }, false));
    expect(await drafts.remove(key, changed.draftId)).toBe(true);
    expect(released.splice(0)).toEqual([['app', ['h4']]]);
    await database.knex('apps_drafts').delete();
  });

  test('bounds of a sender and of an app, in number and in bytes', async () => {
    const large = draft({ sender: 'large' }, { a: ['x'.repeat(9_000)] });
    await write(drafts.save(large, true));
    expect(await drafts.full(draft({ sender: 'large' }, { a: ['x'.repeat(900)] }))).toBeNull();
    expect(await drafts.full(draft({ sender: 'large' }, { a: ['x'.repeat(1_000)] }))).toBe('sender');
    expect(
      await drafts.full({ ...large, content: { ...large.content, fields: { a: ['x'.repeat(9_900)] } } }),
    ).toBeNull();
    const attached = draft({ sender: 'files' });
    expect(await drafts.full({ ...attached, content: { ...attached.content, files: [fileOf('f', 10_000)] } })).toBe(
      'sender',
    );
    for (let at = 0; at < 4; at += 1) await write(drafts.save(draft(), true));
    expect([await drafts.full(draft()), await drafts.full(draft({ sender: 'two' }))]).toEqual(['sender', null]);
    expect(await drafts.full(draft({ key: { ...key, app: 'other' } }))).toBeNull();
    await write(drafts.save(draft({ sender: 'two' }), true));
    expect(await drafts.full(draft({ sender: 'three' }))).toBe('app');
    clock.now += MINUTE;
    expect(await drafts.full(draft())).toBeNull();
  });
});
