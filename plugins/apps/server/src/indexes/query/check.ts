import type { Items, Json } from '../../../../shared/json';
import { type OperatorName, type OperatorSyntax, operators } from '../../../../shared/query/operators';
import { type Operand, type Parsed, parse, QueryError } from '../../../../shared/query/parse';
import { didYouMean } from '../../common/text';
import type { Scalar } from '../keys';
import type { IndexDeclarations, IndexType } from '../types';
import { QueryCounts, queryError, queryLimits } from './limits';
import type { Meaning, OperatorMeaning } from './operators';
import { meanings, type QueryCondition } from './operators';

/** The tree of a query; null when it is empty (all records match). BadRequestError, with position and reason, for a wrong one. */
export function parseQuery(query: string): Parsed | null {
  if (Buffer.byteLength(query) > queryLimits.size)
    throw queryError(1, `the query is longer than ${queryLimits.size} bytes`);
  try {
    return parse(query, queryLimits.depth);
  } catch (error) {
    throw error instanceof QueryError ? queryError(error.position, error.reason) : error;
  }
}

/**
 * Checks a query against the declared indexes and replaces the bound names by their values.
 * BadRequestError for an unknown index (`details.index`), a missing name, a value or operator that the index does not accept.
 */
export function checkQuery(tree: Parsed, declared: IndexDeclarations, names: Items = {}): QueryCondition {
  return new Checker(declared, names).check(tree);
}

/** Type of a declared index; BadRequestError with its name when there is none. */
export function indexType(declared: IndexDeclarations, name: string, position: number): IndexType {
  const type = name === 'id' ? 'field' : declared.get(name);
  if (!type) throw queryError(position, unknownIndex(declared, name), { index: name });
  return type;
}

/** Indexes that a message lists. */
const MAX_LISTED = 30;

/** The message for an unknown index, which lists the declared ones. */
export function unknownIndex(declared: IndexDeclarations, name: string): string {
  const known = [...new Set([...declared.keys(), 'id'])].sort();
  const more = known.length > MAX_LISTED ? `, and ${known.length - MAX_LISTED} more` : '';
  const list = `${known.slice(0, MAX_LISTED).join(', ')}${more}`;
  return `there is no index named ${JSON.stringify(name)}${didYouMean(name, known) || '.'} There are: ${list}`;
}

class Checker {
  private values = 0;
  private readonly counts = new QueryCounts();

  constructor(
    private readonly declared: IndexDeclarations,
    private readonly names: Items,
  ) {}

  check(tree: Parsed): QueryCondition {
    switch (tree.kind) {
      case 'and':
      case 'or':
        return { kind: tree.kind, children: tree.children.map((child) => this.check(child)) };
      case 'not':
        return { kind: 'not', child: this.check(tree.child) };
      case 'comparison':
        return tree.operands.length === 3 ? this.chain(tree) : this.comparison(tree);
      case 'membership':
        return this.single(tree.operator, tree.index, tree.value);
      case 'list':
        return this.list(tree);
    }
  }

  private isIndex(operand: Operand): boolean {
    return operand.kind === 'word' && (operand.name === 'id' || this.declared.has(operand.name));
  }

  /** `index op value`, or, when only the right side is an index, `value op index`. */
  private comparison({ operands, operators: [operator] }: Parsed & { kind: 'comparison' }): QueryCondition {
    const [left, right] = operands as [Operand, Operand];
    const exchanged = !this.isIndex(left) && (left.kind === 'value' || this.isIndex(right));
    const used = operator as OperatorName;
    return exchanged ? this.single(mirrored(used), right, left) : this.single(used, left, right);
  }

  private chain({ operands, operators: used }: Parsed & { kind: 'comparison' }): QueryCondition {
    const [low, index, high] = operands as [Operand, Operand, Operand];
    const [first, second] = used as [OperatorName, OperatorName];
    return { kind: 'and', children: [this.single(mirrored(first), index, low), this.single(second, index, high)] };
  }

  /** An operator with one value. */
  private single(operator: OperatorName, index: Operand, operand: Operand): QueryCondition {
    const { name, type } = this.index(index);
    const meaning = meaningOf(operator, name, type, index.position);
    // Search texts are counted as conditions one by one.
    if (type !== 'text') this.counts.add('conditions', 1, index.position);
    return meaning(name, [{ value: this.scalar(operand), position: operand.position }], this.counts);
  }

  private list({ operator, index, list, named }: Parsed & { kind: 'list' }): QueryCondition {
    const { name, type } = this.index(index);
    const { position } = index;
    const meaning = meaningOf(operator, name, type, position);
    const values = named ? this.bound(list[0] as Operand) : list.map((operand) => this.scalar(operand));
    this.values += values.length;
    if (this.values > queryLimits.values) throw queryError(position, `more than ${queryLimits.values} list values`);
    this.counts.add('conditions', 1, position);
    return meaning(
      name,
      values.map((value) => ({ value, position })),
      this.counts,
    );
  }

  private index(operand: Operand): { name: string; type: IndexType } {
    if (operand.kind === 'value') throw queryError(operand.position, 'expected the name of an index, found a value');
    return { name: operand.name, type: indexType(this.declared, operand.name, operand.position) };
  }

  private json(operand: Operand): Json {
    if (operand.kind === 'value') return operand.value;
    if (Object.hasOwn(this.names, operand.name)) return this.names[operand.name] as Json;
    throw queryError(operand.position, `no value is given for the name ${JSON.stringify(operand.name)}`);
  }

  private scalar(operand: Operand): Scalar {
    return toScalar(this.json(operand), operand.position);
  }

  /** The values of a bound list; any other value counts as a list of one. */
  private bound(operand: Operand): Scalar[] {
    const value = this.json(operand);
    return (Array.isArray(value) ? value : [value]).map((entry) => toScalar(entry, operand.position));
  }
}

/** The operator's meaning for an index type; BadRequestError where it does not accept such indexes. */
function meaningOf(operator: OperatorName, index: string, type: IndexType, position: number): Meaning {
  const { on, instead }: OperatorMeaning = meanings[operator];
  const meaning = on[type];
  if (meaning) return meaning;
  const proposal = instead?.(index) ?? `not ${operator}`;
  throw queryError(position, `${index} is a ${type} index: ${proposal}`, { index });
}

const mirrored = (operator: OperatorName) => (operators[operator] as OperatorSyntax).mirrored as OperatorName;

function toScalar(value: Json, position: number): Scalar {
  if (typeof value === 'number' && !Number.isFinite(value)) throw queryError(position, 'a number must be finite');
  if (value === null || typeof value !== 'object') return value;
  throw queryError(position, 'a value is a string, a number, a boolean or null');
}
