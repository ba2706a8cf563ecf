import type { Items } from '../../../../../shared/json';
import type { IndexDeclarations } from '../../../indexes/types';

/** What only a query has: operators, texts in quotes, parentheses, and the words between comparisons. */
const isQuery = /[=<>'"()&|!]|(^|\s)(in|and|or|not)(\s|$)/i;

export interface PlainSearch {
  query: string;
  names: Items;
  /** The query as it may be written, for the administrator. */
  shown: string;
}

/**
 * Plain words as a query that finds the records with them in any index, or with them as id; null for an empty text and
 * for one that is a query.
 */
export function plainSearch(text: string, indexes: IndexDeclarations): PlainSearch | null {
  const words = text.trim();
  if (words === '' || isQuery.test(words)) return null;
  const number = /^-?\d+(\.\d+)?$/.test(words) ? Number(words) : undefined;
  const conditions = [...indexes].flatMap(([name, type]) => {
    if (type !== 'field') return [`words in ${name}`];
    return [`${name} == words`, ...(number === undefined ? [] : [`${name} == number`])];
  });
  const query = [...conditions, ...(indexes.has('id') ? [] : ['id == words'])].join(' or ');
  return {
    query,
    names: { words, ...(number === undefined ? {} : { number }) },
    shown: query
      .replaceAll(/\bwords\b(?= in)|(?<== )words\b/g, JSON.stringify(words))
      .replaceAll('== number', `== ${words}`),
  };
}
