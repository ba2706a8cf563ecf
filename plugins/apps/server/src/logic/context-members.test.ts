import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import type { ContextMember } from '../../../shared/admin-api';

/** The members of the interfaces of `context.d.ts`, with their signatures and comments. */
function membersOfTypes(): Record<string, ContextMember[]> {
  const path = join(__dirname, '../../../shared/context.d.ts');
  const program = ts.createProgram([path], { noLib: true, types: [] });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(path) as ts.Node);
  const types = new Map<string, ts.Symbol[]>();
  for (const symbol of checker.getExportsOfModule(module as ts.Symbol)) {
    const isFunction = checker.getDeclaredTypeOfSymbol(symbol).getCallSignatures().length > 0;
    const members = isFunction ? [] : checker.getDeclaredTypeOfSymbol(symbol).getProperties();
    if (members.length > 0) types.set(symbol.name, members);
  }
  const typeNamed = (text: string, owner: string): string | null => {
    const name = text === 'this' ? owner : text.replace(/\s*\|\s*null$/, '');
    const [, inner = name] = /^\(Items & (\w+)\)$/.exec(name) ?? [];
    return types.has(inner) ? inner : null;
  };
  const described = (symbol: ts.Symbol, owner: string): ContextMember => {
    const declarations = (symbol.declarations ?? []) as (ts.MethodSignature | ts.PropertySignature)[];
    const [first] = declarations;
    const isMethod = first !== undefined && ts.isMethodSignature(first);
    const texts = declarations.map((one) => {
      const parameters = ts.isMethodSignature(one)
        ? `(${one.parameters.map((each) => each.getText()).join(', ')})`
        : '';
      return `${parameters}: ${one.type?.getText() ?? 'any'}`.replace(/\s+/g, ' ');
    });
    return {
      name: symbol.name,
      kind: isMethod ? 'method' : 'property',
      signature: texts.join('\n'),
      doc: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
      type: typeNamed(first?.type?.getText() ?? '', owner),
    };
  };
  const entries = [...types].map(([name, members]) => [name, members.map((one) => described(one, name))]);
  return Object.fromEntries(entries);
}

const members = membersOfTypes();

test('the table for the editor of the panel is made from the types', async () => {
  await expect(`${JSON.stringify(members, null, 2)}\n`).toMatchFileSnapshot('../../../shared/context-members.json');
});

test.each([
  ['Context', 'app', 'App'],
  ['Context', 'record', 'AppRecord'],
  ['App', 'get_record', 'AppRecord'],
  ['AppRecord', 'save', 'AppRecord'],
  ['App', 'log', null],
  ['Api', 'user', 'User'],
])('%s.%s is a %s', (owner, name, type) => {
  expect(members[owner]?.find((member) => member.name === name)?.type).toBe(type);
});
