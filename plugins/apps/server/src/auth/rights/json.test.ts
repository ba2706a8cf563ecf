import { describe, expect, test } from 'vitest';
import { alice, requester } from '../testing/fakes';
import type { Acl, AclRight, JsonUse, JsonUses, Requester } from '../types';
import { ACL_RIGHTS, rightsOf } from './acl';
import { closedLists, jsonRightsOf } from './permissions';

const perList = <T>(rest: T, given: Partial<Record<AclRight, T>>) =>
  Object.fromEntries(ACL_RIGHTS.map((list) => [list, given[list] ?? rest])) as Record<AclRight, T>;

const acl = (rights: Partial<Acl['rights']>): Acl => ({
  rights: perList<readonly string[]>([], rights),
  roles: { chief: ['alice'] },
});
const uses = (given: Partial<JsonUses>): JsonUses => perList<JsonUse>('write', given);

const manager = requester({ kind: 'administrator', identity: 'admin:1', groups: [], isManager: true });
const token = requester({ kind: 'token', identity: 'token:1', groups: [], actions: ['plugin::apps.record.create'] });

/** Rights as letters: view, create, edit own, edit others', delete own, delete others', delete all. */
function letters(who: Requester, list: Acl | null, json: JsonUses): string {
  const rights = jsonRightsOf(who, list, json);
  const own = who.identity;
  const held: [string, boolean][] = [
    ['v', rights.viewAll],
    ['c', rights.create],
    ['e', rights.edit(own)],
    ['E', rights.edit('user:other')],
    ['d', rights.delete(own)],
    ['D', rights.delete('user:other')],
    ['A', rights.deleteAll],
  ];
  return held.map(([letter, has]) => (has ? letter : '-')).join('');
}

describe('rights by the JSON interface', () => {
  const author = acl({ author: ['alice'] });
  const both = acl({ author: ['alice'], editor: ['Editors'] });
  test.each<[string, Requester, Acl | null, Partial<JsonUses>, string]>([
    ['without limits', alice, author, {}, 'vce-d--'],
    ['none', alice, author, { author: 'none' }, '-------'],
    ['read', alice, author, { author: 'read' }, 'v------'],
    ['a limit of another list', alice, author, { editor: 'none' }, 'vce-d--'],
    ['editors who read', alice, acl({ editor: ['alice'] }), { editor: 'read' }, 'v------'],
    ['submitters who read see nothing', alice, acl({ submitter: ['alice'] }), { submitter: 'read' }, '-------'],
    ['submitters who write', alice, acl({ submitter: ['alice'] }), { reader: 'none' }, '-c-----'],
    ['two lists, one closed', alice, both, { editor: 'none' }, 'vce-d--'],
    ['two lists, one for reading', alice, both, { editor: 'read' }, 'vce-d--'],
    ['two lists, the smaller closed', alice, both, { author: 'none' }, 'vceEdDA'],
    ['two lists, both for reading', alice, both, { author: 'read', editor: 'read' }, 'v------'],
    [
      'reading by one, writing by another',
      alice,
      acl({ reader: ['*'], submitter: ['*'] }),
      { submitter: 'none' },
      'v------',
    ],
    ['anonymous', requester(), acl({ submitter: ['*'] }), { submitter: 'none' }, '-------'],
    ['managers', manager, acl({}), { reader: 'none', author: 'none', editor: 'none', submitter: 'none' }, 'vceEdDA'],
    ["Strapi's permissions", token, acl({ submitter: ['*'] }), { submitter: 'none' }, '-c-----'],
    ["Strapi's permissions beside a closed list", token, acl({ reader: ['*'] }), { reader: 'none' }, '-c-----'],
    ['no acl', alice, null, { reader: 'none' }, '-------'],
  ])('%s', (_name, who, list, given, expected) => {
    expect(letters(who, list, uses(given))).toBe(expected);
  });

  test('what names the requester stays', () => {
    const { granted, roles } = jsonRightsOf(alice, both, uses({ author: 'none', editor: 'read' }));
    const full = rightsOf(alice, both);
    expect({ granted, roles }).toEqual({ granted: full.granted, roles: full.roles });
    expect(roles).toEqual(['chief']);
  });

  test.each<[string, Requester, Acl, Partial<JsonUses>, Parameters<typeof closedLists>[3], boolean, AclRight[]]>([
    ['nothing closed', alice, author, {}, 'create', true, []],
    ['closed', alice, author, { author: 'read' }, 'create', true, ['author']],
    ['not closed for this', alice, author, { author: 'read' }, 'view', true, []],
    ['no right anyway', alice, author, { author: 'read' }, 'deleteAll', true, []],
    ['no right to this record anyway', alice, author, { author: 'read' }, 'edit', false, []],
    ['own records', alice, author, { author: 'read' }, 'edit', true, ['author']],
    ['open by another list', alice, both, { editor: 'none' }, 'edit', true, []],
    ['not for others', alice, both, { editor: 'none' }, 'edit', false, ['editor']],
    ['several', alice, both, { editor: 'none', author: 'read' }, 'create', true, ['author', 'editor']],
    ['managers', manager, acl({ editor: ['*'] }), { editor: 'none' }, 'create', true, []],
    ["Strapi's permission", token, acl({ author: ['*'] }), { author: 'none' }, 'create', true, []],
    ["another permission of Strapi's", token, acl({ author: ['*'] }), { author: 'none' }, 'view', true, ['author']],
  ])('lists that refuse: %s', (_name, who, list, given, right, own, expected) => {
    expect(closedLists(who, list, uses(given), right, own)).toEqual(expected);
  });

  test('rights and refusals agree: what is missing is refused by lists, or was missing before', () => {
    const all: JsonUse[] = ['none', 'read', 'write'];
    for (const reader of all)
      for (const one of all)
        for (const editor of all)
          for (const list of [author, both, acl({ reader: ['*'] }), acl({ reader: ['*'], author: ['alice'] })]) {
            const given = uses({ reader, author: one, editor });
            const [full, held] = [rightsOf(alice, list), jsonRightsOf(alice, list, given)];
            for (const [right, name] of [
              ['view', 'viewAll'],
              ['create', 'create'],
              ['deleteAll', 'deleteAll'],
            ] as const)
              expect(closedLists(alice, list, given, right, true).length > 0).toBe(full[name] && !held[name]);
            for (const right of ['edit', 'delete'] as const)
              for (const creator of [alice.identity, 'user:other'])
                expect(closedLists(alice, list, given, right, creator === alice.identity).length > 0).toBe(
                  full[right](creator) && !held[right](creator),
                );
          }
  });
});
