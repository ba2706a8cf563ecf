import { describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import type { DocumentQuery } from './access';
import { checkQueryCost } from './params';

const models: Record<string, { attributes: Record<string, object> }> = {
  article: {
    attributes: {
      title: { type: 'string' },
      author: { type: 'relation', relation: 'manyToOne', target: 'author' },
      tags: { type: 'relation', relation: 'manyToMany', target: 'tag' },
      cover: { type: 'media', multiple: false },
      parts: { type: 'component', repeatable: true, component: 'part' },
      tiles: { type: 'dynamiczone', components: ['part'] },
    },
  },
  author: {
    attributes: { name: { type: 'string' }, articles: { type: 'relation', relation: 'oneToMany', target: 'article' } },
  },
  tag: {
    attributes: { slug: { type: 'string' }, articles: { type: 'relation', relation: 'manyToMany', target: 'article' } },
  },
  part: { attributes: { text: { type: 'text' }, file: { type: 'media', multiple: true } } },
  'plugin::upload.file': {
    attributes: { name: { type: 'string' }, folder: { type: 'relation', relation: 'manyToOne', target: 'x' } },
  },
};

const outcome = (query: DocumentQuery): string => {
  try {
    checkQueryCost(query, models.article as never, (uid) => models[uid]);
    return 'taken';
  } catch (error) {
    if (isAppsError(error, 'BadRequestError')) return error.message;
    throw error;
  }
};

const tags = (slug: string) => ({ tags: { slug } });
const by = (name: string) => ({ author: { name } });
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const nested = (levels: number): object => (levels === 0 ? {} : { populate: { tags: nested(levels - 1) } });

describe('a query is taken', () => {
  test.each<[string, DocumentQuery]>([
    ['without parameters', {}],
    ['two lists, together', { filters: { $and: [tags('a'), tags('b')] } }],
    ['a list in a list', { filters: { tags: { articles: { title: 'x' } } } }],
    ['several conditions on one list', { filters: { tags: { $or: [{ slug: 'a' }, { slug: 'b' }, { slug: 'c' }] } } }],
    ['six relations that are no lists', { filters: { $or: times(6, by('a')) } }],
    ['a sort by a relation', { sort: ['author.name:asc', 'title'] }],
    ['everything, two levels', { populate: { author: { populate: '*' }, tags: { populate: ['articles'] } } }],
    ['four levels', nested(4) as DocumentQuery],
    [
      'fields that are not there, which Strapi refuses',
      { filters: { none: { none: 1 } }, sort: 'none.none', populate: ['none'] },
    ],
    ['values of the wrong type, which Strapi refuses', { filters: null, sort: 1, populate: true }],
  ])('%s', (_name, query) => expect(outcome(query)).toBe('taken'));
});

describe('a query is refused', () => {
  const sorted = /"sort" uses lists of relations or components more than 1 time/;
  const lists = /use lists of relations or components 3 times, 2 at most/;
  test.each<[string, DocumentQuery, RegExp]>([
    ['three lists', { filters: { $or: [tags('a'), { $not: tags('b') }, tags('c')] } }, lists],
    ['a list of conditions', { filters: [tags('a'), tags('b'), tags('c')] }, lists],
    ['lists in lists', { filters: { tags: { articles: { tags: { slug: 'x' } } } } }, lists],
    [
      'sorts by lists',
      { sort: ['tags.slug', 'parts.text:desc', 'title', 'tags.articles'] },
      /"sort" uses lists .* more than 1 time/,
    ],
    ['a text of sorts by lists', { sort: 'tags.slug, parts.text' }, sorted],
    ['objects of sorts by lists', { sort: [{ tags: { articles: { title: 'asc' } } }] }, sorted],
    ['filters and sort together', { filters: { $and: [tags('a'), tags('b')] }, sort: 'parts.text' }, lists],
    ['files of components', { filters: { parts: { file: { name: 'x' } }, tiles: { a: 1 } } }, lists],
    ['seven relations', { filters: { $or: times(7, by('a')) } }, /use relations 7 times, 6 at most/],
    [
      'lists in the filters of what it populates',
      { populate: { tags: { filters: { $or: times(3, { articles: 1 }) } } } },
      lists,
    ],
    ['lists in the sort of what it populates', { populate: { author: { sort: times(2, 'articles.title') } } }, sorted],
    ['five levels', nested(5) as DocumentQuery, /"populate" has more than 4 levels/],
    ['five levels in a text', { populate: 'tags.articles.tags.articles.tags' }, /more than 4 levels/],
    ['five levels in a list', { populate: ['title', 'tags.articles.tags.articles.tags'] }, /more than 4 levels/],
    [
      'a zone with many levels',
      { populate: { tiles: { on: { part: { populate: { file: { populate: 'folder.a.b.c' } } } } } } },
      /more than 4 levels/,
    ],
    [
      'many names on all levels',
      { populate: Object.fromEntries(times(20, 0).map((_, at) => [`tags${at}`, { populate: ['a', 'b'] }])) },
      /"populate" has more than 50 names/,
    ],
    [
      'everything of many',
      { populate: { tags: { populate: { articles: { populate: times(11, '*') } } } } },
      /more than 50 names/,
    ],
  ])('%s', (_name, query, message) => expect(outcome(query)).toMatch(message));
});
