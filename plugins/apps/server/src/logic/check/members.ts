import contextMembers from '../../../../shared/context-members.json';
import { didYouMean } from '../../common/text';
import { type AnyNode, walk } from '../compile/syntax';

/** One file of a block's logic for the check. */
export interface CheckInput {
  language: 'javascript' | 'python';
  path: string;
  text: string;
  /** Names of the functions that the server calls with `context`. */
  functions: readonly string[];
  /** Properties that logic of the app sets on any object; null where names are computed. */
  assigned: readonly string[] | null;
}

/** A search or count in logic whose arguments are literal texts. */
export interface LiteralSearch {
  /** Null: not a literal text. */
  query: string | null;
  sortIndex: string | null;
  /** Whether the values of names in the query may be given. */
  mayHaveNames: boolean;
  line: number;
  column: number;
}

/** A method or property that does not exist. */
export interface MemberMistake {
  message: string;
  line: number;
  column: number;
}

/** What the check of a file finds. */
export interface LogicUses {
  mistakes: MemberMistake[];
  /** Of the app whose logic it is. */
  searches: LiteralSearch[];
}

/** The type of a value of logic, by its interface in `shared/context.d.ts`. */
export interface LogicType {
  name: string;
  /** Whether it is of the app whose logic it is; false for what `get_app` gives. */
  isOwn: boolean;
}

interface Member {
  name: string;
  kind: string;
  type: string | null;
}

const table: Readonly<Record<string, readonly Member[]>> = contextMembers;

/** Members that exist in one language or for apps made for Rapido, and that the types leave out. */
const unlisted: Readonly<Record<string, readonly string[]>> = {
  Context: ['modules'],
  App: ['add_message'],
  AppRecord: 'pop setdefault update keys values get_item set_item has_item remove_item toJSON'.split(' '),
  Request: ['keys'],
  ParentRequest: ['keys'],
};

/** Types of which every member is known. Records and content have items and fields beside theirs. */
const closed = new Set(
  'App Acl BlockReference Request ParentRequest Response Portal Mail Api ContentApi Documents'.split(' '),
);

/** What every object has. */
const ofObjects = new Set([...Object.getOwnPropertyNames(Object.prototype), 'then', 'prototype']);

/** How messages name the value of a type. */
const shownAs: Readonly<Record<string, string>> = {
  Context: '`context`',
  App: 'an app',
  Acl: '`acl`',
  AppRecord: 'a record',
  BlockReference: 'a block',
  Request: '`request`',
  ParentRequest: '`parent_request`',
  Response: '`response`',
  Portal: '`portal`',
  Mail: '`mail`',
  Api: '`api`',
  ContentApi: '`api.content`',
  Documents: '`documents`',
};

/** Methods whose result depends on their arguments. */
const varying = new Set(['save']);

export const contextType: LogicType = { name: 'Context', isOwn: true };

const memberOf = (type: LogicType, name: string) => (table[type.name] ?? []).find((one) => one.name === name);

/** The type of a property, or of the result of a method; null where it is not known. */
export function typeOfMember(type: LogicType, name: string, isCall: boolean): LogicType | null {
  const member = memberOf(type, name);
  if (!member?.type || (member.kind === 'method') !== isCall || varying.has(name)) return null;
  const isOther = name === 'get_app' || name === 'rapido';
  return { name: member.type, isOwn: type.isOwn && !isOther };
}

/** What is done with a member. */
interface MemberUse {
  type: LogicType;
  name: string;
  isCall: boolean;
  /** Whether logic may have set properties of this name on `context`. */
  mayBeSet(name: string): boolean;
}

/** Whether a property of `context` is one of the known, misspelt: logic may have its own, which are similar by chance. */
const isSlip = (name: string, meant: string): boolean => {
  const [, word = ''] = /"(.+)"/.exec(meant) ?? [];
  return word[0] === name[0] && Math.abs(word.length - name.length) <= 1;
};

/**
 * What is wrong with a member that does not exist; null where it exists or may exist. An item of a record is never wrong, but
 * a call of one is: items are JSON. A property of `context` is wrong where it is similar to a known one and is set nowhere.
 */
export function memberMistake({ type, name, isCall, mayBeSet }: MemberUse): string | null {
  const known = (table[type.name] ?? []).map((member) => member.name);
  if (known.includes(name) || unlisted[type.name]?.includes(name)) return null;
  if (ofObjects.has(name) || name.startsWith('_')) return null;
  const meant = didYouMean(name, known);
  const isWrong =
    closed.has(type.name) ||
    (type.name === 'AppRecord' && isCall) ||
    (type.name === 'Context' && isSlip(name, meant) && !mayBeSet(name));
  const what = isCall ? 'method' : 'property';
  return isWrong ? `There is no ${what} "${name}" of ${shownAs[type.name] ?? type.name}${meant}` : null;
}

/** Names of a function or module with the types of their values; null where a type is not known. */
export class Scope {
  readonly #types = new Map<string, LogicType | null>();

  constructor(private readonly outer: Scope | null) {}

  declare(name: string, type: LogicType | null = null): void {
    this.#types.set(name, type);
  }

  typeOf(name: string): LogicType | null {
    if (this.#types.has(name)) return this.#types.get(name) ?? null;
    return this.outer?.typeOf(name) ?? null;
  }

  /** Whether a name is the module's own, which no function has declared again. */
  isOfModule(name: string): boolean {
    if (!this.outer) return true;
    return !this.#types.has(name) && this.outer.isOfModule(name);
  }
}

export const nodesIn = (value: unknown): AnyNode[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (one): one is AnyNode => typeof (one as AnyNode | null)?.type === 'string',
  );

/** The nodes directly below a node. */
export const childrenOf = (node: AnyNode): AnyNode[] => Object.values(node).flatMap(nodesIn);

export const isFunction = ({ type }: AnyNode): boolean => /^(?:Arrow)?Function(?:Expression|Declaration)$/.test(type);

export const nameOf = (node: unknown): string => String((node as { name?: unknown } | null)?.name ?? '');

/** The names that a pattern declares. */
export function namesOf(pattern: AnyNode | null): string[] {
  if (!pattern) return [];
  switch (pattern.type) {
    case 'Identifier':
      return [nameOf(pattern)];
    case 'Property':
      return namesOf(pattern.value as AnyNode);
    case 'AssignmentPattern':
      return namesOf(pattern.left as AnyNode);
    case 'RestElement':
      return namesOf(pattern.argument as AnyNode);
    default:
      return nodesIn(pattern.properties ?? pattern.elements ?? []).flatMap(namesOf);
  }
}

/** Names that a function or module declares, those in its blocks included, and without those of functions inside it. */
export function declaredIn(body: AnyNode): string[] {
  const found: string[] = [];
  const waiting = childrenOf(body);
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'VariableDeclarator') found.push(...namesOf(node.id as AnyNode));
    if (node.type === 'CatchClause') found.push(...namesOf(node.param as AnyNode | null));
    if (/^(?:Function|Class)Declaration$/.test(node.type)) found.push(nameOf(node.id));
    if (!isFunction(node)) waiting.push(...childrenOf(node));
  }
  return found;
}

/** Names whose values change, of variables of any function: their types are never known. */
export function changedNames(program: readonly AnyNode[]): Set<string> {
  const changed = new Set<string>();
  walk(program, (node) => {
    const target =
      node.type === 'AssignmentExpression' || /^For(?:In|Of)Statement$/.test(node.type)
        ? node.left
        : node.type === 'UpdateExpression'
          ? node.argument
          : null;
    for (const name of namesOf(target as AnyNode | null)) changed.add(name);
  });
  return changed;
}
