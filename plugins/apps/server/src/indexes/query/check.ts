import type { Items, Json } from '../../../../shared/json';
import { didYouMean } from '../../did-you-mean';
import type { Scalar } from '../keys';
import type { IndexDeclarations, IndexType } from '../types';
import { parseTextQuery, type TextCondition, type TextQuery } from '../words';
import { queryError } from './errors';
import { QueryCounts, queryLimits } from './limits';
import type { Comparator, Operand, Parsed } from './tree';

/** A condition on declared indexes, values filled in. Two-valued: `not` is exactly the complement. */
export type Condition =
  | { kind: 'and' | 'or'; children: Condition[] }
  | { kind: 'not'; child: Condition }
  | Leaf
  | { kind: 'text'; index: string; query: TextQuery };

export type Leaf =
  | { kind: 'constant'; value: boolean }
  | { kind: 'compare'; index: string; comparator: Comparator; value: Scalar }
  | { kind: 'oneOf'; index: string; values: Scalar[] }
  | { kind: 'keywords'; index: string; mode: 'any' | 'all'; values: Scalar[] };

const flipped: Record<Comparator, Comparator> = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/**
 * Checks what a query says against the declared indexes and fills in the bound names.
 * BadRequestError for an unknown index (`details.index`), a missing name, a value or operator that the index does not take.
 */
export function checkQuery(tree: Parsed, declared: IndexDeclarations, names: Items = {}): Condition {
  return new Checker(declared, names).check(tree);
}

/** Type of a declared index; BadRequestError naming it when there is none. */
export function indexType(declared: IndexDeclarations, name: string, position: number): IndexType {
  const type = name === 'id' ? 'field' : declared.get(name);
  if (!type) throw queryError(position, unknownIndex(declared, name), { index: name });
  return type;
}

/** Indexes that a message lists, at most. */
const LISTED = 30;

/** Says that there is no such index, and which there are. */
export function unknownIndex(declared: IndexDeclarations, name: string): string {
  const known = [...new Set([...declared.keys(), 'id'])].sort();
  const more = known.length > LISTED ? `, and ${known.length - LISTED} more` : '';
  const list = `${known.slice(0, LISTED).join(', ')}${more}`;
  return `there is no index named ${JSON.stringify(name)}${didYouMean(name, known) || '.'} There are: ${list}`;
}

class Checker {
  private values = 0;
  private readonly counts = new QueryCounts();

  constructor(
    private readonly declared: IndexDeclarations,
    private readonly names: Items,
  ) {}

  check(tree: Parsed): Condition {
    switch (tree.kind) {
      case 'and':
      case 'or':
        return { kind: tree.kind, children: tree.children.map((child) => this.check(child)) };
      case 'not':
        return { kind: 'not', child: this.check(tree.child) };
      case 'compare':
        return tree.operands.length === 3
          ? this.chain(tree.operands, tree.comparators)
          : this.comparison(tree.operands, tree.comparators);
      case 'contains':
        return this.contains(tree.value, tree.index);
      case 'members':
        return this.members(tree);
    }
  }

  private isIndex(operand: Operand): boolean {
    return operand.kind === 'word' && (operand.name === 'id' || this.declared.has(operand.name));
  }

  /** `index op value`, or, when only the right side is an index, `value op index`. */
  private comparison(operands: Operand[], [comparator]: Comparator[]): Condition {
    const [left, right] = operands as [Operand, Operand];
    const turned = !this.isIndex(left) && (left.kind === 'value' || this.isIndex(right));
    const used = comparator as Comparator;
    return turned ? this.compare(right, flipped[used], left) : this.compare(left, used, right);
  }

  private chain(operands: Operand[], comparators: Comparator[]): Condition {
    const [low, index, high] = operands as [Operand, Operand, Operand];
    const [first, second] = comparators as [Comparator, Comparator];
    return { kind: 'and', children: [this.compare(index, flipped[first], low), this.compare(index, second, high)] };
  }

  private compare(index: Operand, comparator: Comparator, operand: Operand): Condition {
    const { name, type } = this.index(index);
    // As in Rapido: a text index knows which words a text holds, so that equal means "holds these words".
    if (type === 'text' && (comparator === '==' || comparator === '!=')) {
      const child = this.text(name, this.scalar(operand), operand.position);
      return comparator === '==' ? child : { kind: 'not', child };
    }
    this.counts.add('conditions', 1, index.position);
    if (type !== 'field') {
      throw queryError(index.position, `${name} is a ${type} index: use "value in ${name}", not ${comparator}`, {
        index: name,
      });
    }
    return { kind: 'compare', index: name, comparator, value: this.scalar(operand) };
  }

  private contains(value: Operand, index: Operand): Condition {
    const { name, type } = this.index(index);
    if (type === 'field') {
      throw queryError(index.position, `${name} is a field index: use == or "${name} in any(…)"`, { index: name });
    }
    if (type === 'text') return this.text(name, this.scalar(value), value.position);
    this.counts.add('conditions', 1, index.position);
    return { kind: 'keywords', index: name, mode: 'any', values: [this.scalar(value)] };
  }

  private members({ index, mode, list, named }: Parsed & { kind: 'members' }): Condition {
    const { name, type } = this.index(index);
    const values = named ? this.list(list[0] as Operand) : list.map((operand) => this.scalar(operand));
    this.values += values.length;
    if (this.values > queryLimits.values)
      throw queryError(index.position, `more than ${queryLimits.values} list values`);
    this.counts.add('conditions', 1, index.position);
    if (values.length === 0) return { kind: 'constant', value: mode === 'all' };
    if (type === 'keyword') return { kind: 'keywords', index: name, mode, values };
    const joined = mode === 'any' ? 'or' : 'and';
    if (type === 'text')
      return { kind: joined, children: values.map((value) => this.text(name, value, index.position)) };
    if (mode === 'any') return { kind: 'oneOf', index: name, values };
    return {
      kind: 'and',
      children: values.map((value) => ({ kind: 'compare', index: name, comparator: '==', value })),
    };
  }

  private text(index: string, value: Scalar, position: number): Condition {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw queryError(position, `${index} is a text index: words are strings`);
    const text = String(value);
    // Before it is taken apart: folding makes up to 18 characters of one.
    this.counts.add('characters', text.length, position);
    const query = parseTextQuery(text);
    const parts = query.flat();
    const number = (test: (part: TextCondition) => boolean) => parts.filter(test).length;
    this.counts.add('conditions', 1, position);
    this.counts.add(
      'words',
      parts.reduce((sum, part) => sum + part.words.length, 0),
      position,
    );
    this.counts.add('alternatives', query.length - 1, position);
    this.counts.add(
      'phrases',
      number((part) => part.words.length > 1),
      position,
    );
    this.counts.add(
      'prefixes',
      number((part) => part.prefix),
      position,
    );
    this.counts.add(
      'exclusions',
      number((part) => part.negated),
      position,
    );
    return { kind: 'text', index, query };
  }

  private index(operand: Operand): { name: string; type: IndexType } {
    if (operand.kind === 'value') throw queryError(operand.position, 'expected the name of an index, found a value');
    return { name: operand.name, type: indexType(this.declared, operand.name, operand.position) };
  }

  private bound(operand: Operand & { kind: 'word' }): Json {
    if (Object.hasOwn(this.names, operand.name)) return this.names[operand.name] as Json;
    throw queryError(operand.position, `no value is given for the name ${JSON.stringify(operand.name)}`);
  }

  private scalar(operand: Operand): Scalar {
    const value = operand.kind === 'value' ? operand.value : this.bound(operand);
    return toScalar(value, operand.position);
  }

  private list(operand: Operand): Scalar[] {
    const value = operand.kind === 'value' ? operand.value : this.bound(operand);
    return (Array.isArray(value) ? value : [value]).map((entry) => toScalar(entry, operand.position));
  }
}

function toScalar(value: Json, position: number): Scalar {
  if (value === null || typeof value !== 'object') return value;
  throw queryError(position, 'a value is a string, a number, a boolean or null');
}
