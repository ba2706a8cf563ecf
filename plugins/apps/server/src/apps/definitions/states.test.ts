import { describe, expect, test } from 'vitest';
import { readDefinition } from './definition';
import { unreachableStates } from './records';
import { failure, file } from './testing/definitions';

const states = (text: string) => readDefinition(file(text)).states;

describe('states of a block', () => {
  test.each([
    ['title: a', null],
    ['states: { new: {} }', { initial: 'new' }],
    ['states: { new: }', { initial: 'new' }],
    ['states: { b: { to: [a] }, a: { to: [b] } }', { initial: 'b' }],
  ])('%s', (text, expected) => {
    if (expected === null) expect(states(text)).toBeNull();
    else expect(states(text)).toMatchObject(expected);
  });

  test('a state has its ways, whom it names, its label and its mail', () => {
    const found = states(
      "states:\n  new: { to: [done], by: [editors, rita], label: New }\n  done: { notify: { to: '{mail}', subject: Done } }\nelements: { mail: EMAIL }",
    );
    expect(found?.all.get('new')).toMatchObject({ to: ['done'], by: ['editors', 'rita'], label: 'New', notify: null });
    expect(found?.all.get('done')).toMatchObject({ to: [], by: null, label: null, notify: { to: ['{mail}'] } });
  });

  test.each([
    ['states: {}', 1, 9, /at least one state/],
    ['states: [new]', 1, 9, /mapping/],
    ['states: { new: { to: [done] } }', 1, 23, /no state "done"/],
    ['states: { new: { to: [dome] }, done: {} }', 1, 23, /did you mean "done"/i],
    ['states: { new: { to: [new] } }', 1, 23, /already/],
    ['states: { new: { to: done }, done: {} }', 1, 22, /list/],
    ['states: { new: { ways: [done] }, done: {} }', 1, 18, /ways/],
    ['states: { "a b": {} }', 1, 11, /cannot be the name of a state/],
    ['states: { new: {} }\nelements: { state: TEXT }', 2, 13, /"states" makes the item "state"/],
    [`states: { ${Array.from({ length: 51 }, (_, at) => `s${at}: {}`).join(', ')} }`, 1, 9, /at most 50 states/],
    ['states: { new: { notify: { to: a } } }', 1, 26, /"subject"/],
  ])('%s', (text, line, column, message) => {
    const error = failure(() => states(text));
    expect(error).toMatchObject({ name: 'DefinitionError', position: { line, column } });
    expect(error.message).toMatch(message);
  });

  test('a state to which no way leads from the first is unreachable', () => {
    const names = (text: string) => unreachableStates(states(text) as never).map(({ name }) => name);
    expect(names('states: { a: { to: [b] }, b: { to: [c] }, c: {} }')).toEqual([]);
    expect(names('states: { a: { to: [b] }, b: {}, c: { to: [d] }, d: {} }')).toEqual(['c', 'd']);
  });
});
