import type { Core } from '@strapi/strapi';
import { expect, test } from 'vitest';
import { namesOwnersOfFiles, relatedTypes } from './content';

const relation = (target?: string) => ({ type: 'relation', ...(target && { target }) });
const types = relatedTypes({
  contentTypes: {
    'api::a.a': { attributes: { title: { type: 'string' }, one: relation('api::b.b'), cover: { type: 'media' } } },
    'api::b.b': { attributes: { part: { type: 'component', component: 'x.part' } } },
    'api::c.c': { attributes: { about: relation() } },
    'plugin::upload.file': { attributes: { related: relation() } },
    'plugin::apps.record': { attributes: {} },
  },
  components: { 'x.part': { attributes: {} } },
} as unknown as Core.Strapi);

test.each<[what: string, uid: string | null, found: string[]]>([
  ['its relations, their components, its files', 'api::a.a', ['api::a.a', 'api::b.b', 'x.part', 'plugin::upload.file']],
  ['a component', 'api::b.b', ['api::b.b', 'x.part']],
  ['a relation to any type', 'api::c.c', ['api::a.a', 'api::b.b', 'api::c.c', 'x.part', 'plugin::upload.file']],
  ['all', null, ['api::a.a', 'api::b.b', 'api::c.c', 'x.part', 'plugin::upload.file']],
])('%s', (_, uid, found) => {
  expect([...types(uid)].sort()).toEqual(found.sort());
});

test.each<[populate: unknown, isSo: boolean]>([
  [undefined, false],
  ['*', false],
  [['cover'], false],
  ['cover.related', true],
  [{ cover: { populate: ['related'] } }, true],
  [{ cover: { populate: '*' } }, true],
])('populate %j asks for the owners of files: %j', (populate, isSo) => {
  expect(namesOwnersOfFiles(populate)).toBe(isSo);
});
