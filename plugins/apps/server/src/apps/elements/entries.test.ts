import { describe, expect, test } from 'vitest';
import { readDefinition } from '../definitions/definition';
import { localeFor } from '../locales';
import { patternWork } from '../patterns';
import { changedEntries, NO_ENTRIES, pressedButton, sentEntries } from './entries';
import { readEntries } from './repeat';
import { noData } from './testing/element';

const definition = readDefinition({
  path: 'blocks/a.yaml',
  text: `elements:
  t.x: { type: REPEAT, min: 1, max: 3, elements: { n: { type: TEXT, required: true }, m: { type: NUMBER, show_if: { n: x } } } }
  other: TEXT`,
});
const element = definition.elements.get('t.x');
if (!element) throw new Error('no element');

const sent = (fields: Record<string, unknown>) => sentEntries(definition, fields).get('t.x');
const texts = (fields: Record<string, unknown>) => sent(fields)?.entries.map((entry) => Object.fromEntries(entry));

describe('sent entries', () => {
  test.each<[Record<string, unknown>, object[] | undefined]>([
    [{}, []],
    [{ 't.x:0': '1' }, [{}]],
    [{ 't.x:10:n': 'b', 't.x:9:n': ['a', 'c'] }, [{ n: ['a', 'c'] }, { n: ['b'] }]],
    [{ 't.x:00:n': 'a', 't.x:0:m': '1' }, [{ n: ['a'], m: ['1'] }]],
    [{ 't.x:999999999:n': 'a', 't.x:9999999999:n': 'b' }, [{ n: ['a'] }]],
    [
      { 't.x:0:__proto__': 'a', 't.x:0:n:n': 'b', 't.x:-1:n': 'c', 't.x:1.5:n': 'd', 'other:0:n': 'e', ':0:n': 'f' },
      [{}],
    ],
    [{ 't.x': [{ n: 1, m: null, z: 2 }, {}] }, [{ n: ['1'], m: [''] }, {}]],
    [{ 't.x': '' }, []],
  ])('of %j are %j', (fields, expected) => {
    expect(texts(fields)).toEqual(expected);
    expect(sent(fields)?.isWrong).toBe(false);
  });

  test.each([['a'], [[1]], [[[]]], [{ 0: {} }], [true], [[null]]])('%j is no list of entries', (value) => {
    expect(sent({ 't.x': value })?.isWrong).toBe(true);
  });

  test.each<[string, string[], number]>([
    ['t.x:add', ['a', 'b', 'new'], 2],
    ['t.x:remove:1', ['b'], 0],
    ['t.x:up:5', ['b', 'a'], 0],
    ['t.x:down:1', ['b', 'a'], 1],
    ['t.x:up:1', ['a', 'b'], 0],
    ['t.x:up:77', ['a', 'b'], -1],
  ])('%s leaves %j', (button, expected, focus) => {
    const fields = { 't.x:1:n': 'a', 't.x:5:n': 'b', [button]: '1' };
    const change = pressedButton(definition, fields);
    const entries = sent(fields);
    if (!change || !entries) throw new Error('no button');
    const changed = changedEntries(entries, change);
    expect(changed.entries.map((entry) => entry?.get('n')?.[0] ?? 'new')).toEqual(expected);
    expect(changed.focus).toBe(focus);
  });

  test.each(['t.x:remove', 't.x:add:1', 't.x:x:1', 'other:add', 'add', 't.x:remove:1e3'])('%s is no button', (name) => {
    expect(pressedButton(definition, { [name]: '1' })).toBeNull();
  });

  test.each<[string[], unknown, string[]]>([
    [['a', 'x'], [{ n: 'a' }, { n: 'x', m: null }], []],
    [['', 'a', ''], [{ n: 'a' }], []],
    [[], null, ['t.x: Please fill in at least 1 entry.']],
    [[''], null, ['t.x.0.n: Please fill in this field.']],
    [['a', 'b', 'c', 'd'], null, ['t.x: Please enter at most 3 entries.']],
  ])('%j are read as %j', async (names, value, wrong) => {
    const fields = Object.fromEntries(names.map((name, index) => [`t.x:${index}:n`, name]));
    const read = await readEntries(element, {
      data: noData,
      options: new Map(),
      work: patternWork(),
      region: { tag: 'en', timeZone: null },
      files: { files: undefined, items: undefined },
      take: () => undefined,
      field: 't.x',
      entries: sent(fields) ?? NO_ENTRIES,
      stored: undefined,
      shown: undefined,
    });
    const site = { id: 's', title: 'S', url: 'http://x/s', theme: 'main', locale: null, timeZone: null };
    const { say } = await localeFor(site, new Map());
    const refusals = 'wrong' in read ? read.wrong : [];
    expect(refusals.map(({ path, message: { key, values } }) => `${path.join('.')}: ${say(key, values)}`)).toEqual(
      wrong,
    );
    if (wrong.length === 0) expect(read).toEqual({ value });
  });
});
