import { describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import { readDefinition } from './definition';

function problem(keys: string): string | null {
  try {
    readDefinition({ path: 'blocks/a.yaml', text: `elements:\n  a: { type: REFERENCE${keys} }` });
    return null;
  } catch (error) {
    if (isAppsError(error, 'DefinitionError')) return error.message;
    throw error;
  }
}

describe('a REFERENCE', () => {
  test.each([
    ", content: 'api::article.article'",
    ', app: topics, block: topic, text: title, multiple: true, max: 50, index_type: keyword',
    ", app: topics, query: 'open == true', required: true",
  ])('takes %s', (keys) => {
    expect(problem(keys)).toBeNull();
  });

  test.each<[string, RegExp]>([
    ['', /names what it refers to/],
    [", app: a, content: 'api::a.a'", /names what it refers to/],
    [', content: article', /uid of a content type/],
    [", content: 'admin::user.user/..'", /uid of a content type/],
    [", content: 'api::a.a', query: x", /for references to records/],
    [", content: 'api::a.a', block: x", /for references to records/],
    [', app: a, default: x', /"default" is not known/],
    [', app: a, options: [x]', /"options" is not known/],
    [', app: 3', /must be text/],
    [', app: a, max: 2', /for a reference with "multiple: true"/],
    [', app: a, multiple: true, max: 51', /whole number from 1 to 50/],
    [', app: a, multiple: true, max: 0', /whole number from 1 to 50/],
  ])('refuses %s', (keys, message) => {
    expect(problem(keys)).toMatch(message);
  });
});
