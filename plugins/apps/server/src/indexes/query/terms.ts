import type { TextQuery } from '../words';
import { encodeWord, phraseText } from '../words';
import type { Condition, Leaf } from './check';

/** A range of terms: one word, or all that begin with it. */
export interface WordRange {
  term: Buffer;
  prefix: boolean;
}

/** Conditions as SQL knows them: texts are taken apart into words and phrases. */
export type PlainCondition =
  | { kind: 'and' | 'or'; children: PlainCondition[] }
  | { kind: 'not'; child: PlainCondition }
  | Leaf
  | { kind: 'word'; index: string; range: WordRange }
  /** The words are asked for beside it; this is only that they follow each other. */
  | { kind: 'phrase'; index: string; text: Buffer };

export function takeApart(condition: Condition): PlainCondition {
  if ('children' in condition) {
    return { kind: condition.kind, children: condition.children.map(takeApart) };
  }
  if (condition.kind === 'not') return { kind: 'not', child: takeApart(condition.child) };
  if (condition.kind !== 'text') return condition;
  const alternatives = condition.query.map((parts) => ({
    kind: 'and' as const,
    children: parts.map((part) => partOf(condition.index, part)),
  }));
  return { kind: 'or', children: alternatives };
}

function partOf(index: string, part: TextQuery[number][number]): PlainCondition {
  const ranges = rangesOf(part);
  const children: PlainCondition[] = ranges.map((range) => ({ kind: 'word', index, range }));
  if (ranges.length > 1) {
    const text = phraseText(part.words);
    children.push({ kind: 'phrase', index, text: Buffer.from(part.prefix ? text.trimEnd() : text, 'utf8') });
  }
  const all: PlainCondition = { kind: 'and', children };
  return part.negated ? { kind: 'not', child: all } : all;
}

function rangesOf(part: TextQuery[number][number]): WordRange[] {
  return part.words.map((word, at) => ({
    term: encodeWord(word),
    prefix: part.prefix && at === part.words.length - 1,
  }));
}

/** The words of a text index that make a record relevant: all that are asked for, none of those excluded. */
export function relevantWords(condition: Condition, index: string): WordRange[] {
  const found = new Map<string, WordRange>();
  collect(condition, index, false, found);
  return [...found.values()];
}

function collect(condition: Condition, index: string, negated: boolean, found: Map<string, WordRange>): void {
  if ('children' in condition) {
    for (const child of condition.children) collect(child, index, negated, found);
  } else if (condition.kind === 'not') collect(condition.child, index, !negated, found);
  else if (condition.kind === 'text' && condition.index === index) {
    const parts = condition.query.flat().filter((part) => part.negated === negated);
    for (const range of parts.flatMap(rangesOf)) found.set(`${range.prefix} ${range.term.toString('latin1')}`, range);
  }
}

/** Names of the indexes that a condition is about. */
export function indexesOf(condition: Condition): string[] {
  if ('children' in condition) return condition.children.flatMap(indexesOf);
  if (condition.kind === 'not') return indexesOf(condition.child);
  return condition.kind === 'constant' ? [] : [condition.index];
}
