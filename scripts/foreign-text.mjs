/**
 * Finds where the server reads text that others wrote: calls of parsers, and functions that the rooms offer. Each must be
 * named in docs/decisions/foreign-text.md, which says what bounds its cost; scripts/foreign-text.test.mjs holds the two
 * together.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';

/** Packages that read nothing of a theme or a visitor. */
const harmless = /^(node:|\.|@strapi\/|@koa\/|koa|knex)/;

/** Calls that read a text: by the name of what is called. */
const readers = /^(JSON\.parse|RegExp|eval|Function)$|\.(matchAll|charCodeAt|codePointAt)$/;

/** Files that the rule is not about: tests and what only they use. */
const isTest = (path) => /\.test\.ts$|\.test-support\.ts$|(^|\/)(testing\/|test-databases\.ts$)/.test(path);

/** The first name that a statement at the top of a file declares, or ''. */
function nameOf(statement) {
  const { name } = statement.declarationList?.declarations[0] ?? statement;
  return (name?.elements?.[0].name ?? name)?.getText() ?? '';
}

/** Names of what a source imports, not as types, from packages that may read texts. */
function foreignNames(source) {
  const names = new Set();
  for (const { importClause, moduleSpecifier } of source.statements.filter(ts.isImportDeclaration)) {
    if (!importClause || importClause.isTypeOnly || harmless.test(moduleSpecifier.text)) continue;
    const { name, namedBindings } = importClause;
    if (name) names.add(name.text);
    for (const element of namedBindings?.elements ?? []) if (!element.isTypeOnly) names.add(element.name.text);
    if (namedBindings?.name) names.add(namedBindings.name.text);
  }
  return names;
}

/** Names of the declarations of a TypeScript source that call a parser, make one, extend one, or match piece by piece. */
export function readersIn(text, name = 'file.ts') {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const foreign = foreignNames(source);
  const isReader = (node) => {
    if (ts.isRegularExpressionLiteral(node)) return /\/[a-z]*y[a-z]*$/.test(node.text);
    if (ts.isIdentifier(node)) return foreign.has(node.text) && node.parent.name !== node;
    return (ts.isCallExpression(node) || ts.isNewExpression(node)) && readers.test(node.expression.getText());
  };
  const reads = (node) => !ts.isTypeNode(node) && (isReader(node) || (ts.forEachChild(node, reads) ?? false));
  return source.statements.filter((node) => !ts.isImportDeclaration(node) && reads(node)).map(nameOf);
}

/** Names of values, not types, that the front file of a room offers. */
export function offeredBy(text, name = 'index.ts') {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  return source.statements.flatMap((node) => {
    if (ts.isExportDeclaration(node)) {
      if (node.isTypeOnly || !node.exportClause?.elements) return [];
      return node.exportClause.elements.filter((element) => !element.isTypeOnly).map((element) => element.name.text);
    }
    const isOffered = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    return isOffered && !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node) ? [nameOf(node)] : [];
  });
}

/** What of the server's source the page has to name: `file#name` of readers, `room#name` of what fronts offer. */
export function mustBeNamed(server) {
  const paths = readdirSync(server, { recursive: true })
    .map((path) => String(path).split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !isTest(path))
    .sort();
  const textOf = (path) => readFileSync(join(server, path), 'utf8');
  return {
    readers: paths.flatMap((path) => readersIn(textOf(path), path).map((name) => `${path}#${name}`)),
    offered: paths
      .filter((path) => /^[^/]+\/index\.ts$/.test(path))
      .flatMap((path) => offeredBy(textOf(path), path).map((name) => `${path.split('/')[0]}#${name}`)),
  };
}

/** What the page names: the first cell of each row of its tables, `` `place`: `name`, `name` ``. */
export function namedIn(page) {
  return page.split('\n').flatMap((line) => {
    const [, place, names] = /^\| `([^`]+)`: ([^|]+)\|/.exec(line) ?? [];
    return place ? [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${place}#${name}`) : [];
  });
}
