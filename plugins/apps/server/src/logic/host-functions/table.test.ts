import { spawnSync } from 'node:child_process';
import { describe, expect, test, vi } from 'vitest';
import type { LogicHost } from '../types';
import { contextReference } from './generated';
import { pythonNames, pythonTypes } from './python-types';
import { callHost, contextCalls, hostFunctions } from './table';

const all = Object.entries(hostFunctions);

test.each(all)('%s has its line in the reference', (_name, { doc, args }) => {
  expect(doc).toMatch(/^[A-Z].{10,100}\.$/);
  for (const schema of Object.values(args)) expect(schema.description).toBeTruthy();
});

test('the reference page is generated from the table', async () => {
  await expect(contextReference()).toMatchFileSnapshot('../../../../../../docs/reference/context.md');
});

test('the types of its methods are generated from the table', async () => {
  await expect(contextCalls()).toMatchFileSnapshot('../../../../shared/context-calls.d.ts');
});

test("the types for Python's editors are generated from the table", async () => {
  await expect(pythonTypes()).toMatchFileSnapshot('../../../../python/__builtins__.pyi');
});

test.each(all)('%s: its types for Python name every method that the reference names', (_name, { written, python }) => {
  const declared = Object.values(python ?? {})
    .flat()
    .join('\n');
  // The objects on which methods are called, and `print`, which is Python's own.
  const others = ['get_block', 'print'];
  for (const method of written[1].match(/[a-z_A-Z]+(?=\()/g) ?? [])
    if (!others.includes(method)) expect(declared).toMatch(new RegExp(`\\bdef ${method}\\(`));
  expect(declared).not.toBe('');
});

test('every class that a host function adds to is in the types for Python', () => {
  const named = new Set(all.flatMap(([, { python }]) => Object.keys(python ?? {})));
  expect(Object.keys(pythonNames())).toEqual(expect.arrayContaining([...named]));
});

test('the types for Python are valid Python', (context) => {
  const python = spawnSync('python3', ['--version']);
  if (python.error) {
    console.warn('NO python3: THE STUB FOR PYTHON IS NOT PARSED');
    return context.skip();
  }
  const { status, stderr } = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
    input: pythonTypes(),
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});

test.each(all)('%s: its types name every method that the reference names', (_name, { written, types = {} }) => {
  const declared = Object.values(types).flat().join('\n');
  // `get_block` is the prelude's own, `findMany` one of the methods of `Documents`.
  for (const method of written[0].match(/[a-z_A-Z]+(?=\()/g) ?? [])
    if (method !== 'get_block') expect(declared).toMatch(new RegExp(`\\b${method}\\(`));
});

test.each(all)('%s: a forwarding method declares its arguments in Python by their names', (_name, row) => {
  if (!row.forwards) return;
  const [, method, parameters = ''] = /^\w+\.(\w+)\((.*)\)$/.exec(row.written[1]) ?? [];
  expect(method).toBe(row.forwards.method);
  const names = parameters.match(/\w+(?==|,|$)/g)?.filter((name) => !['None', 'False'].includes(name)) ?? [];
  expect(['app', ...(row.forwards.of === 'record' ? ['id'] : []), ...names]).toEqual(Object.keys(row.args));
});

describe('arguments are checked before the handler runs', () => {
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
    ['changeRecord', { app: null, id: 'x' }, /change must be an object/],
    ['changeRecord', { app: null, id: 'x', change: { unset: ['a', 5] } }, /change\.unset\[1\] must be a string/],
    ['changeRecord', JSON.parse('{"id":"x","change":{"__proto__":{}}}'), /change has no option __proto__/],
    ['search', { app: null, query: 'x', options: { names: [] } }, /options\.names must be an object/],
    ['constructor', {}, /the host function must be one that exists/],
  ];
  test.each(cases)('%s %j', async (name, args, message) => {
    const method = vi.fn();
    const host = new Proxy({}, { get: () => method }) as LogicHost;
    const caller = { app: 'a', block: null, lineOf: () => null, logEntrySize: 10_000, countLog: () => undefined };
    await expect(callHost(host, caller, name, args as Record<string, unknown>)).rejects.toMatchObject({
      name: 'BadRequestError',
      message: expect.stringMatching(message),
    });
    expect(method).not.toHaveBeenCalled();
  });
});
