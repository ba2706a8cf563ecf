import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { pythonNames } from './host-functions/python-types';
import { contextOf, fakeHost, programOf, runOnce, useRuntime } from './testing/harness';

/** Methods of each interface of the types, inherited ones too. */
function methodsOfTypes(): Record<string, string[]> {
  const path = join(__dirname, '../../../shared/context.d.ts');
  const program = ts.createProgram([path], { noLib: true, types: [] });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(path) as ts.Node);
  const found: Record<string, string[]> = {};
  for (const symbol of checker.getExportsOfModule(module as ts.Symbol)) {
    const members = checker.getDeclaredTypeOfSymbol(symbol).getProperties();
    const methods = members.filter(({ flags }) => (flags & ts.SymbolFlags.Method) > 0);
    found[symbol.name] = methods.map(({ name }) => name).sort();
  }
  return found;
}

/** How logic gets an object of each type. */
const objects: Record<string, string> = {
  App: 'context.app',
  Acl: 'context.app.acl',
  BlockReference: 'context.block',
  AppRecord: 'context.record',
  Response: 'context.request.response',
  ParentRequest: 'context.request',
  Portal: 'context.portal',
  Content: 'context.content',
  Api: 'context.api',
  Mail: 'context.mail',
  Jobs: 'context.jobs',
  ContentApi: 'context.api.content',
  Documents: "context.api.documents('x')",
  User: 'context.api.user',
};

const runtime = useRuntime();

const declared = methodsOfTypes();
const context = () => contextOf({ record: { id: 'r', url: 'http://x/r', items: {} } });

describe.each(Object.entries(objects))('%s', (type, object) => {
  test('JavaScript has the methods of the types, and no others', async () => {
    const source = `export function f(context) {
      const object = ${object};
      const names = new Set(Object.getOwnPropertyNames(object));
      // The own keys of a record are its items: its methods belong to its class.
      if (object === context.record) for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(object))) names.add(name);
      return [...names].filter((name) => typeof object[name] === 'function').sort();
    }`;
    const outcome = await runOnce(runtime, source, { host: fakeHost({ r: {} }), context: context() });
    const own = ['constructor', 'toJSON', 'getURL', 'getPath', 'getObject', 'add_message'];
    expect(outcome).toMatchObject({ ok: true });
    const names = (outcome as { value: unknown }).value as string[];
    expect(names.filter((name) => !own.includes(name))).toEqual(declared[type]?.filter((name) => !own.includes(name)));
  });

  test('Python has the methods of the types', async () => {
    const source = `def f(context):
    return [name for name in ${JSON.stringify(declared[type])} if not hasattr(${object}, name)]
`;
    const program = programOf({ 'blocks/test.py': source }, 'blocks/test.py');
    const outcome = await runOnce(runtime, program, { host: fakeHost({ r: {} }), context: context() });
    expect(outcome).toMatchObject({ ok: true, value: [] });
  });
});

/** How Python logic gets an object of each class of the stub. */
const pythonObjects: Record<string, string> = {
  ...objects,
  Context: 'context',
  RecordContext: 'context',
  Block: 'context.block',
  Record: 'context.record',
  Records: 'context.app.records(limit=1)',
  Request: 'context.request',
  ContentItem: "context.portal.get('x')",
  PortalApi: 'context.api.portal',
  Visitor: 'context.visitor',
  Creator: 'context.record.creator',
  Places: 'context.block.places',
  FetchAnswer: "context.fetch('https://x.example')",
};

test.each(Object.entries(pythonNames()))('the stub of %s names what its objects have', async (name, names) => {
  const given = pythonObjects[name];
  expect(given).toBeDefined();
  const source = `def f(context):
    return [name for name in ${JSON.stringify(names)} if not hasattr(${given}, name)]
`;
  const program = programOf({ 'blocks/test.py': source }, 'blocks/test.py');
  const outcome = await runOnce(runtime, program, { host: fakeHost({ r: {} }), context: context() });
  expect(outcome).toMatchObject({ ok: true, value: [] });
});
