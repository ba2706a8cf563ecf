import { afterEach, expect, test, vi } from 'vitest';
import { wantedClients } from './databases';

const all = ['sqlite', 'postgres', 'mysql'];
const shouted = vi.spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => shouted.mockClear());

test('without a filter all databases are tested', () => {
  expect(wantedClients('', false)).toEqual(all);
  expect(wantedClients('', true)).toEqual(all);
  expect(shouted).not.toHaveBeenCalled();
});

test('a filter names databases, and the ones left out are logged', () => {
  expect(wantedClients('mysql, sqlite', false)).toEqual(['sqlite', 'mysql']);
  expect(shouted).toHaveBeenCalledWith(expect.stringContaining('TEST_DATABASES leaves out postgres'));
});

test('in CI a filter that leaves out a database is an error', () => {
  expect(() => wantedClients('sqlite', true)).toThrow('TEST_DATABASES leaves out postgres, mysql');
  expect(wantedClients('mysql,postgres,sqlite', true)).toEqual(all);
});

test('a filter with an unknown name is an error', () => {
  expect(() => wantedClients('sqlite,oracle', false)).toThrow('TEST_DATABASES names "oracle"');
});
