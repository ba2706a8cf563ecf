import type { AnyNode } from '../compile/syntax';
import { startOf, walk } from '../compile/syntax';
import type { CheckInput, LiteralSearch, LogicUses } from './members';
import {
  changedNames,
  childrenOf,
  contextType,
  declaredIn,
  isFunction,
  type LogicType,
  memberMistake,
  nameOf,
  namesOf,
  nodesIn,
  Scope,
  typeOfMember,
} from './members';

/** Types of the parameters of helper functions, by their names, as the calls in the file give them. */
type Helpers = ReadonlyMap<string, readonly (LogicType | null)[]>;

/** Passes over a file: each may find the types of more helper functions. */
const MAX_PASSES = 5;

/**
 * Finds members that do not exist, and searches with literal texts, in a module. Known are the parameter of functions that the
 * server calls, what is read from it, and constants and parameters of the file's own functions that hold such values.
 */
export function usesInJavaScript(program: readonly AnyNode[], input: CheckInput): LogicUses {
  const file = new File(program, input);
  let helpers: Helpers = new Map();
  for (let pass = 1; ; pass += 1) {
    const found = file.check(helpers);
    if (pass === MAX_PASSES || found.helpers.size === helpers.size) return found.uses;
    helpers = found.helpers;
  }
}

/** A function at the top of a module: its name, and the node of the function. */
interface TopFunction {
  name: string;
  node: AnyNode;
  isExported: boolean;
}

function topFunctions(program: readonly AnyNode[]): TopFunction[] {
  return program.flatMap((statement) => {
    const isExported = statement.type.startsWith('Export');
    const declaration = (isExported ? statement.declaration : statement) as AnyNode | null;
    if (!declaration) return [];
    if (isFunction(declaration)) return [{ name: nameOf(declaration.id), node: declaration, isExported }];
    return nodesIn(declaration.declarations ?? []).flatMap(({ id, init }) =>
      init && isFunction(init as AnyNode) ? [{ name: nameOf(id), node: init as AnyNode, isExported }] : [],
    );
  });
}

class File {
  private readonly changed: ReadonlySet<string>;
  private readonly functions: readonly TopFunction[];
  /** Names of the file's own functions that are only called: nothing else passes them a value. */
  private readonly onlyCalled: ReadonlySet<string>;
  private readonly called: ReadonlySet<string>;
  private helpers: Helpers = new Map();
  private calls = new Map<string, (LogicType | null)[][]>();
  private uses: LogicUses = { mistakes: [], searches: [] };

  constructor(
    private readonly program: readonly AnyNode[],
    private readonly input: CheckInput,
  ) {
    this.changed = changedNames(program);
    this.functions = topFunctions(program);
    const hasExports = program.some(({ type }) => type.startsWith('Export'));
    const exportedLater = new Set(
      program.flatMap(({ specifiers, source }) =>
        source ? [] : nodesIn(specifiers).map(({ local }) => nameOf(local)),
      ),
    );
    const isExported = ({ name, isExported: own }: TopFunction) => own || exportedLater.has(name);
    const byServer = this.functions.filter((one) =>
      hasExports ? isExported(one) : input.functions.includes(one.name),
    );
    this.called = new Set(byServer.map(({ name }) => name));
    const uses = new Map<string, number>();
    walk(program, ({ type, name, callee }) => {
      if (type === 'Identifier') uses.set(String(name), (uses.get(String(name)) ?? 0) + 1);
      const calledName = type === 'CallExpression' ? nameOf(callee) : '';
      if (calledName !== '') uses.set(calledName, (uses.get(calledName) ?? 0) - 1);
    });
    const own = this.functions.filter(({ name }) => uses.get(name) === 1 && !this.called.has(name));
    this.onlyCalled = new Set(own.map(({ name }) => name));
  }

  check(helpers: Helpers): { uses: LogicUses; helpers: Helpers } {
    this.helpers = helpers;
    this.calls = new Map();
    this.uses = { mistakes: [], searches: [] };
    const scope = new Scope(null);
    const top = new Map(this.functions.map(({ node, name }) => [node, name]));
    for (const node of this.program) this.visit(node, scope, top);
    return { uses: this.uses, helpers: this.typedHelpers() };
  }

  /** The types of parameters that every call of a helper function passes. */
  private typedHelpers(): Helpers {
    const found = [...this.calls].flatMap(([name, calls]): [string, (LogicType | null)[]][] => {
      const [first = []] = calls;
      const types = first.map((type, index) =>
        calls.every((each) => isSame(each[index] ?? null, type)) ? type : null,
      );
      return types.some((type) => type) ? [[name, types]] : [];
    });
    return new Map(found);
  }

  private visit(node: AnyNode, scope: Scope, top: ReadonlyMap<AnyNode, string>): void {
    if (isFunction(node)) return this.visitFunction(node, scope, top);
    if (node.type === 'MemberExpression') this.checkMember(node, scope, 'read');
    if (node.type === 'CallExpression') this.visitCall(node, scope);
    for (const child of childrenOf(node)) {
      const isTarget = node.type === 'AssignmentExpression' && child === node.left;
      const isTested = node.type === 'UnaryExpression' && node.operator !== '!' && node.operator !== '-';
      // Setting a property, and asking for its type, are no uses of it.
      if ((isTarget || isTested) && child.type === 'MemberExpression')
        for (const inner of childrenOf(child)) this.visit(inner, scope, top);
      else if (node.type === 'CallExpression' && child === node.callee && child.type === 'MemberExpression')
        for (const inner of childrenOf(child)) this.visit(inner, scope, top);
      else this.visit(child, scope, top);
    }
    if (node.type === 'VariableDeclarator') this.bind(node.id as AnyNode, this.typeOf(node.init, scope), scope);
  }

  private visitFunction(node: AnyNode, outer: Scope, top: ReadonlyMap<AnyNode, string>): void {
    const scope = new Scope(outer);
    const declared = declaredIn(node);
    for (const name of declared) scope.declare(name);
    // A name that two blocks of a function declare has no one type.
    for (const name of declared.filter((one, index) => declared.indexOf(one) !== index)) this.twice(scope, name);
    const name = top.get(node);
    const types = name === undefined ? [] : this.called.has(name) ? [contextType] : (this.helpers.get(name) ?? []);
    for (const [index, parameter] of nodesIn(node.params).entries()) {
      for (const one of namesOf(parameter)) scope.declare(one);
      const hasDefault = parameter.type === 'AssignmentPattern';
      if (!hasDefault) this.bind(parameter, types[index] ?? null, scope);
    }
    for (const child of childrenOf(node)) this.visit(child, scope, top);
  }

  private readonly doubled = new WeakMap<Scope, Set<string>>();

  private twice(scope: Scope, name: string): void {
    this.doubled.set(scope, new Set([...(this.doubled.get(scope) ?? []), name]));
  }

  /** Gives the names of a pattern the types of what they take from a value. */
  private bind(pattern: AnyNode, type: LogicType | null, scope: Scope): void {
    if (!type) return;
    if (pattern.type === 'Identifier') {
      const name = nameOf(pattern);
      if (!this.changed.has(name) && !this.doubled.get(scope)?.has(name)) scope.declare(name, type);
    }
    if (pattern.type !== 'ObjectPattern') return;
    for (const property of nodesIn(pattern.properties)) {
      if (property.type !== 'Property' || property.computed) continue;
      const { value, key } = property as unknown as { value: AnyNode; key: AnyNode };
      if (value.type !== 'AssignmentPattern') {
        this.report(key, type, false);
        this.bind(value, typeOfMember(type, nameOf(key), false), scope);
      }
    }
  }

  private visitCall(node: AnyNode, scope: Scope): void {
    const callee = node.callee as AnyNode;
    const args = nodesIn(node.arguments);
    if (callee.type === 'Identifier') {
      const name = nameOf(callee);
      if (!this.onlyCalled.has(name) || !scope.isOfModule(name)) return;
      const types = args.map((argument) => this.typeOf(argument, scope));
      this.calls.set(name, [...(this.calls.get(name) ?? []), types]);
    }
    if (callee.type !== 'MemberExpression') return;
    this.checkMember(callee, scope, node.optional ? 'maybe' : 'call');
    const type = this.typeOf(callee.object, scope);
    const method = callee.computed ? '' : nameOf(callee.property);
    if (type?.name !== 'App' || !type.isOwn || (method !== 'search' && method !== 'count')) return;
    this.uses.searches.push({ ...searchOf(args), ...startOf(args[0] ?? callee) });
  }

  private checkMember({ object, property, computed }: AnyNode, scope: Scope, use: 'read' | 'call' | 'maybe'): void {
    const type = computed || use === 'maybe' ? null : this.typeOf(object, scope);
    if (type) this.report(property as AnyNode, type, use === 'call');
  }

  private report(key: AnyNode, type: LogicType, isCall: boolean): void {
    if (key.type !== 'Identifier') return;
    const { assigned } = this.input;
    const mayBeSet = (name: string) => assigned === null || assigned.includes(name);
    const message = memberMistake({ type, name: nameOf(key), isCall, mayBeSet });
    if (message !== null) this.uses.mistakes.push({ message, ...startOf(key) });
  }

  /** The type of an expression's value. */
  private typeOf(node: unknown, scope: Scope): LogicType | null {
    const { type, callee, object, property, computed, ...rest } = (node ?? {}) as AnyNode;
    switch (type) {
      case 'Identifier':
        return scope.typeOf(nameOf(node));
      case 'AwaitExpression':
        return this.typeOf(rest.argument, scope);
      case 'ChainExpression':
        return this.typeOf(rest.expression, scope);
      case 'MemberExpression':
      case 'CallExpression': {
        const member = (type === 'CallExpression' ? callee : node) as AnyNode;
        if (member.type !== 'MemberExpression' || member.computed) return null;
        const of = this.typeOf(member.object, scope);
        return of && typeOfMember(of, nameOf(member.property), type === 'CallExpression');
      }
      default:
        return null;
    }
  }
}

const isSame = (a: LogicType | null, b: LogicType | null) => a?.name === b?.name && a?.isOwn === b?.isOwn;

type SearchArguments = Omit<LiteralSearch, 'line' | 'column'>;

/** The literal arguments of `search` and `count`: `(query, sort_index)`, `(query, options)` or `(options)`. */
function searchOf([first, second, ...others]: readonly AnyNode[]): SearchArguments {
  const options = first?.type === 'ObjectExpression' ? first : second;
  const query = first === options ? propertyOf(options, 'query') : first;
  const isObject = options?.type === 'ObjectExpression';
  const isKnown = !options || textOf(options) !== null || options.type === 'Literal' || isObject;
  const properties = isObject ? nodesIn(options.properties) : [];
  const mayHaveNames =
    !isKnown ||
    others.some(({ type }) => type === 'SpreadElement') ||
    properties.some(({ type, computed, key }) => type !== 'Property' || computed === true || keyOf(key) === 'names');
  const sort = isObject ? propertyOf(options, 'sort_index') : second;
  return { query: textOf(query), sortIndex: textOf(sort), mayHaveNames };
}

const keyOf = (key: unknown): string => nameOf(key) || String((key as { value?: unknown }).value ?? '');

function propertyOf(object: AnyNode | undefined, name: string): AnyNode | undefined {
  const found = nodesIn(object?.properties ?? []).find(({ type, key }) => type === 'Property' && keyOf(key) === name);
  return found?.value as AnyNode | undefined;
}

/** A literal text; null for anything else. */
function textOf(node: AnyNode | undefined): string | null {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node?.type !== 'TemplateLiteral' || nodesIn(node.expressions).length > 0) return null;
  const [quasi] = nodesIn(node.quasis);
  return (quasi?.value as { cooked?: string } | undefined)?.cooked ?? null;
}
