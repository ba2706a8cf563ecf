/**
 * Finds where the server reads foreign text: calls of parsers, and the public functions of the parts. Each must be named in
 * docs/decisions/foreign-text.md, which says what bounds its cost; scripts/foreign-text.test.mjs compares the two.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';

/** Packages that read no text of a theme or a visitor. */
const harmless = /^(node:|\.|@strapi\/|@koa\/|koa|knex|lru-cache)/;

/** Names of functions and methods that read a text. */
const readers = /^(JSON\.parse|RegExp|eval|Function)$|\.(matchAll|charCodeAt|codePointAt)$/;

/** Files that the rule does not apply to: tests and their helpers. */
const isTest = (path) => /\.test\.ts$|(^|\/)testing\//.test(path);

/** The first name that a statement at the top of a file declares, or ''. */
function nameOf(statement) {
  const { name } = statement.declarationList?.declarations[0] ?? statement;
  return (name?.elements?.[0].name ?? name)?.getText() ?? '';
}

/** Names that a source imports, not as types, from packages that may read texts. */
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

/** Names of the values, not types, that the public interface (`index.ts`) of a part exports. */
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

/** The names that the page must have: `file#name` of readers, `part#name` of exports of the parts. */
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

/** The names in the page: the first cell of each row of its tables, `` `file or part`: `name`, `name` ``. */
export function namedIn(page) {
  return page.split('\n').flatMap((line) => {
    const [, owner, names] = /^\| `([^`]+)`: ([^|]+)\|/.exec(line) ?? [];
    return owner ? [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${owner}#${name}`) : [];
  });
}
