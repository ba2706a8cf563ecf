import { expect, test } from 'vitest';
import { keptFields, keptName, unkept } from './page-form';

const buttons = ['_save', '_draft', '_edit', '_delete', '_state', '_withdraw', '_revoke', '_csrf', '_next', '_back'];
const others = ['action.mark', 'guests:add', 'guests:remove:1', 'room:search'];

test.each([...buttons, ...others])('a login form keeps what was entered, and not %s', (name) => {
  expect(keptFields({ name: 'Ann', [name]: 'yes' })).toEqual([['name', 'Ann']]);
  expect(unkept({ [keptName('name')]: 'Ann', [keptName(name)]: 'yes' })).toEqual({ name: 'Ann' });
});
