import { describe, expect, test } from 'vitest';
import { liveTopics, readsInto, topics } from '../live-topics';

const key = { site: 's', app: 'a' };

test.each([
  ['a record', 'r', [topics.record(key, 'r'), topics.bulk(key)]],
  ['any records', undefined, [topics.any(key)]],
])('the topics of a read of %s', (_what, id, expected) => {
  const reads = new Set<string>();
  readsInto(reads).onRead?.(key, id);
  expect([...reads]).toEqual(expected);
});

describe('liveTopics', () => {
  const records = (count: number) => new Set(Array.from({ length: count }, (_, n) => topics.record(key, String(n))));
  test('are the topics of the reads', () => expect(liveTopics(records(40))).toEqual([...records(40)]));
  test('are any records of the apps above 40 reads', () => expect(liveTopics(records(41))).toEqual([topics.any(key)]));
});
