import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { LogicHost } from '../types';
import { callHost, hostFunctions } from './index';
import { contextReference } from './reference';

const all = hostFunctions.map((row) => [row.name, row] as const);

test.each(all)('%s has its line in the reference', (_name, { doc, args }) => {
  expect(doc).toMatch(/^[A-Z].{10,100}\.$/);
  for (const schema of Object.values(args)) expect(schema.about).toBeTruthy();
});

test('names are unique', () => {
  expect(new Set(all.map(([name]) => name)).size).toBe(all.length);
});

test('the reference page is made from the table', async () => {
  await expect(contextReference()).toMatchFileSnapshot('../../../../../../docs/reference/context.md');
});

test('the types name every method', () => {
  const types = readFileSync(join(__dirname, '../../../../shared/context.d.ts'), 'utf8');
  const methods = hostFunctions.flatMap(({ written: [javascript] }) => javascript.match(/[a-z_A-Z]+(?=\()/g) ?? []);
  for (const method of methods) expect(types).toMatch(new RegExp(`\\b${method}\\(`));
});

describe('arguments are checked before the host is asked', () => {
  const cases: [string, unknown, RegExp][] = [
    ['getRecord', { app: 5, id: 'x' }, /app must be a string/],
    ['getRecord', { app: null }, /id must be a string/],
    ['changeRecord', { app: null, id: 'x', change: { inc: { a: 'b' } } }, /change\.inc\.a must be a number/],
    ['changeRecord', { app: null, id: 'x', change: { unset: 'a' } }, /change\.unset must be a list/],
    ['changeRecord', { app: null, id: 'x', change: { creator: 'me' } }, /change has no option creator/],
    ['documents', { uid: 'x', method: 'constructor', params: {} }, /method must be one of/],
    ['search', { app: null, query: 'x', options: { limit: -1 } }, /options\.limit must be a whole number/],
    ['saveRecord', { app: null, id: 'x', block: {}, creation: true, form: false }, /block must be a string/],
    ['saveRecord', { app: null, id: 'x', block: null, creation: 1, form: false }, /creation must be a boolean/],
    ['displayBlock', { app: null, id: 'x', record: 5, edit: true }, /record must be a string/],
    ['contentFind', { type: ['x'], filters: {} }, /type must be a string/],
    ['contentFind', { type: 'x', filters: [], sort: null }, /filters must be an object/],
    ['contentTransition', { type: 'x', documentId: null, transition: 'x' }, /documentId must be a string/],
    ['respond', { changes: { status: 99 } }, /changes\.status must be an HTTP status/],
    ['respond', { changes: { headers: { a: 1 } } }, /changes\.headers\.a must be a string/],
    ['constructor', {}, /the host function must be one that exists/],
  ];
  test.each(cases)('%s %j', async (name, args, message) => {
    const method = vi.fn();
    const host = new Proxy({}, { get: () => method }) as LogicHost;
    const run = { host, app: 'a', block: null, lineOf: () => null, logEntrySize: 10_000, countLog: () => undefined };
    await expect(callHost(run, name, args as Record<string, unknown>)).rejects.toMatchObject({
      name: 'BadRequestError',
      message: expect.stringMatching(message),
    });
    expect(method).not.toHaveBeenCalled();
  });
});
