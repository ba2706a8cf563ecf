import { expect, test } from 'vitest';
import { differences } from './compare.mjs';
import { createNormaliser, normalisedHeaders } from './normalise.mjs';

test('varying parts are replaced, and equal ids stay equal', () => {
  const normalise = createNormaliser('http://127.0.0.1:40000');
  expect(normalise('http://127.0.0.1:40000/record/373849201928374 373849201928375 373849201928374')).toBe(
    'http://{host}/record/{id-1} {id-2} {id-1}',
  );
  expect(normalise(`at ${new Date().toISOString()}, born 2001-02-03`)).toBe('at {time}, born 2001-02-03');
  expect(normalise(`mwrnmzby.${'a'.repeat(12)}.${'b'.repeat(43)}`)).toBe('{token}');
});

test('a header of the connection is left out, a length and a cookie lose their value', () => {
  const headers = {
    date: 'now',
    'content-length': '5',
    'set-cookie': ['a=secret; Path=/', 'b=; Path=/'],
    vary: 'Accept',
  };
  expect(normalisedHeaders(headers, (text) => text)).toEqual({
    'content-length': '{present}',
    'set-cookie': ['a={cookie}; Path=/', 'b=; Path=/'],
    vary: 'Accept',
  });
});

test('a comparison names the requests that differ', () => {
  const line = (request, body) => ({ request, status: 200, headers: {}, body });
  expect(differences([line('a', 'x')], [line('a', 'x')])).toEqual([]);
  const found = differences([line('a', 'x1'), line('b', '')], [line('a', 'x2'), line('c', '')]);
  expect(found).toEqual([
    expect.stringMatching(/^- a\n {2}body\n {4}before: "x1"\n {4}after: {2}"x2"$/),
    '- b: not in the second recording',
    '- c: not in the first recording',
  ]);
});
