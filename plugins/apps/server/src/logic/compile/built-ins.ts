import type { AnyNode } from './syntax';

/**
 * Code that changes built-ins or globals, or uses the last match of regular expressions, as far as its syntax tree shows: each session of it
 * gets a context of its own (docs/decisions/reused-contexts.md). What is not seen here fails in a reused context, and runs again.
 */

/** The globals of the language, and those of the sandbox. */
const globals = new Set(
  (
    'globalThis Object Function Array String Number Boolean Symbol BigInt Math JSON Date RegExp Promise Proxy Reflect Intl Temporal ' +
    'Map Set WeakMap WeakSet Iterator Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError ' +
    'SuppressedError ArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array ' +
    'Float16Array Float32Array Float64Array BigInt64Array BigUint64Array DisposableStack AsyncDisposableStack ' +
    'console URL URLSearchParams TextEncoder TextDecoder crypto structuredClone atob btoa'
  ).split(' '),
);

/** Properties of `RegExp` that are no state. */
const regExpMembers = new Set(['prototype', 'escape', 'name', 'length']);

/** Functions of `Object` and `Reflect` that change their first argument. */
const changing = new Set([
  'assign',
  'defineProperty',
  'defineProperties',
  'deleteProperty',
  'set',
  'setPrototypeOf',
  'freeze',
  'seal',
]);

const isIdentifier = (node: AnyNode, is: (name: string) => boolean): boolean =>
  node.type === 'Identifier' && is(node.name as string);

/** Whether an expression is a global, or a member of one at any depth: `Array.prototype` for instance. */
function isOfGlobal(node: AnyNode): boolean {
  let inner = node;
  while (inner.type === 'MemberExpression' || inner.type === 'ChainExpression')
    inner = (inner.object ?? inner.expression) as AnyNode;
  return isIdentifier(inner, (name) => globals.has(name));
}

const isMemberOfGlobal = (node: unknown): boolean =>
  (node as AnyNode).type === 'MemberExpression' && isOfGlobal(node as AnyNode);

function isChangingCall({ callee, arguments: args }: AnyNode): boolean {
  const { type, object, property } = callee as AnyNode;
  const [first] = args as AnyNode[];
  if (type !== 'MemberExpression' || !first || !isOfGlobal(first)) return false;
  return (
    isIdentifier(object as AnyNode, (name) => name === 'Object' || name === 'Reflect') &&
    isIdentifier(property as AnyNode, (name) => changing.has(name))
  );
}

const checks: Record<string, (node: AnyNode) => boolean> = {
  AssignmentExpression: ({ left }) => isMemberOfGlobal(left),
  UpdateExpression: ({ argument }) => isMemberOfGlobal(argument),
  UnaryExpression: ({ operator, argument }) => operator === 'delete' && isMemberOfGlobal(argument),
  CallExpression: isChangingCall,
  MemberExpression: ({ object, property, computed }) =>
    isIdentifier(object as AnyNode, (name) => name === 'RegExp') &&
    (computed === true || !regExpMembers.has((property as AnyNode).name as string)),
};

/** Whether this node of a syntax tree changes a built-in. */
export const changesBuiltIns = (node: AnyNode): boolean =>
  Object.hasOwn(checks, node.type) && (checks[node.type] as (node: AnyNode) => boolean)(node);
