import { describe, expect, test, vi } from 'vitest';
import { alice, requester } from '../testing/fakes';
import type { Acl, AppsAction, Requester } from '../types';
import { allows, rightsOf } from './acl';

const acl = (rights: Partial<Acl['rights']>, roles: Acl['roles'] = {}): Acl => ({
  rights: { reader: [], author: [], editor: [], submitter: [], owner: [], ...rights },
  roles,
});

const token = (...actions: AppsAction[]) =>
  requester({ kind: 'token', identity: 'token:1', username: 'alice', groups: [], actions });
const manager = requester({ kind: 'administrator', identity: 'admin:1', groups: [], isManager: true });
/** A user who has taken the name of a role. */
const pretender = requester({
  kind: 'user',
  identity: 'user:p',
  username: 'Editors',
  groups: ['Authenticated'],
  nameIsGroup: true,
});

/** Rights as letters: view own, view others', create, edit own, edit others', delete own, delete others', delete all. */
function letters(who: Requester, list: Acl | null): string {
  const rights = rightsOf(who, list);
  const own = who.identity;
  const held: [string, boolean][] = [
    ['v', rights.view(own)],
    ['V', rights.view('user:other')],
    ['c', rights.create],
    ['e', rights.edit(own)],
    ['E', rights.edit('user:other')],
    ['d', rights.delete(own)],
    ['D', rights.delete('user:other')],
    ['A', rights.deleteAll],
  ];
  return held.map(([letter, has]) => (has ? letter : '-')).join('');
}

describe('rights', () => {
  test.each<[string, Requester, Acl | null, string]>([
    ['a user without acl', alice, null, '--------'],
    ['managers without acl', manager, null, 'vVceEdDA'],
    ['managers with an empty acl', manager, acl({}), 'vVceEdDA'],
    ['readers', alice, acl({ reader: ['alice'] }), 'vV------'],
    ['authors', alice, acl({ author: ['alice'] }), 'vVce-d--'],
    ['editors by group', alice, acl({ editor: ['Editors'] }), 'vVceEdDA'],
    ['submitters', alice, acl({ submitter: ['alice'] }), '--c-----'],
    ['readers who may also submit', alice, acl({ reader: ['*'], submitter: ['alice'] }), 'vVc-----'],
    ['owners: their own records, none of others, no new ones', alice, acl({ owner: ['alice'] }), 'v--e-d--'],
    ['owners who may also submit', alice, acl({ owner: ['Editors'], submitter: ['*'] }), 'v-ce-d--'],
    ['owners who may also read', alice, acl({ owner: ['alice'], reader: ['*'] }), 'vV-e-d--'],
    ['owners who may also edit', alice, acl({ owner: ['*'], editor: ['alice'] }), 'vVceEdDA'],
    ['anonymous owners, who own nothing', requester(), acl({ owner: ['*'] }), '--------'],
    ['anonymous owners who may submit', requester(), acl({ owner: ['*'], submitter: ['*'] }), '--c-----'],
    ['tokens as owners', token(), acl({ owner: ['*'] }), 'v--e-d--'],
    ['users named like a role as owners', pretender, acl({ owner: ['Editors'] }), '--------'],
    ['names in another case', alice, acl({ editor: ['Alice', 'editors'] }), '--------'],
    ['everyone, as anonymous', requester(), acl({ reader: ['*'] }), 'vV------'],
    ['anonymous authors, who own nothing', requester(), acl({ author: ['*'] }), 'vVc-----'],
    ['the Public group', requester(), acl({ submitter: ['Public'] }), '--c-----'],
    ['tokens named like a user', token(), acl({ editor: ['alice'] }), '--------'],
    ['tokens as everyone', token(), acl({ author: ['*'] }), 'vVce-d--'],
    ['users named like a role', pretender, acl({ editor: ['Editors'] }), '--------'],
    ['those by their role', pretender, acl({ reader: ['Authenticated'] }), 'vV------'],
    ['find of Strapi', token('plugin::apps.record.find'), null, 'vV------'],
    ['create of Strapi', token('plugin::apps.record.create'), null, '--c-----'],
    ['update of Strapi: any record', token('plugin::apps.record.update'), null, '---eE---'],
    ['delete of Strapi: any record', token('plugin::apps.record.delete'), null, '-----dDA'],
    ['find of Strapi for owners', token('plugin::apps.record.find'), acl({ owner: ['*'] }), 'vV-e-d--'],
    ['Strapi and acl together', token('plugin::apps.record.update'), acl({ reader: ['*'] }), 'vV-eE---'],
  ])('%s', (_name, who, list, expected) => {
    expect(letters(who, list)).toBe(expected);
  });

  test.each<[who: string, Requester, Acl, all: boolean, own: string | null]>([
    ['owners', alice, acl({ owner: ['alice'] }), false, alice.identity],
    ['readers', alice, acl({ owner: ['alice'], reader: ['*'] }), true, null],
    ['managers', manager, acl({ owner: ['*'] }), true, null],
    ['anonymous', requester(), acl({ owner: ['*'] }), false, null],
    ['others', alice, acl({}), false, null],
  ])('tells whether %s see all records, or whose', (_name, who, list, viewAll, viewOwn) => {
    expect(rightsOf(who, list)).toMatchObject({ viewAll, viewOwn });
  });

  test.each([[null], ['']])('a record without a creator has no owner (%j)', (creator) => {
    const list = acl({ author: ['*'], owner: ['*'] });
    const owners = acl({ owner: ['*'] });
    for (const who of [alice, requester()]) {
      expect(rightsOf(who, owners).view(creator)).toBe(false);
      expect(rightsOf(who, list).edit(creator)).toBe(false);
      expect(rightsOf(who, list).delete(creator)).toBe(false);
    }
  });

  test('of a visitor are to the records of their cookie, which is looked at only where it counts', () => {
    const looked = vi.fn(() => 'visitor:a');
    const own = rightsOf(requester(), acl({ owner: ['*'] }), looked);
    expect(looked).not.toHaveBeenCalled();
    expect([own.viewOwn, own.view('visitor:a'), own.edit('visitor:a'), own.delete('visitor:a')]).toEqual([
      'visitor:a',
      true,
      true,
      true,
    ]);
    expect([own.viewAll, own.view('visitor:b'), own.view(null), own.view('')]).toEqual([false, false, false, false]);
    looked.mockClear();
    const all = rightsOf(requester(), acl({ reader: ['*'] }), looked);
    expect([all.viewOwn, all.view('visitor:a')]).toEqual([null, true]);
    expect(looked).not.toHaveBeenCalled();
  });

  test('tells the rights and roles that name the requester', () => {
    const list = acl({ reader: ['*'], editor: ['Editors'] }, { chief: ['alice'], clerk: ['bob'] });
    expect(rightsOf(alice, list)).toMatchObject({ granted: ['reader', 'editor'], roles: ['chief'] });
    expect(rightsOf(manager, list)).toMatchObject({ granted: ['reader'], roles: [] });
  });
});

describe('view_permission', () => {
  test.each<[string, Requester, string[] | null, boolean]>([
    ['open to all', requester(), null, true],
    ['an empty list', alice, [], false],
    ['a user', alice, ['alice'], true],
    ['a group', alice, ['Editors'], true],
    ['everyone', requester(), ['*'], true],
    ['others', alice, ['bob'], false],
    ['managers always', manager, ['bob'], true],
    ['a name taken by a role', pretender, ['Editors'], false],
  ])('%s', (_name, who, list, expected) => {
    expect(allows(who, list)).toBe(expected);
  });
});
