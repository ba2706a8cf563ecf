import { searchProblem } from '../../indexes';
import type { LogicUses } from '../../logic/types';
import type { App, Block } from '../types';
import { calledNames } from './functions';
import type { Finding } from './problem';

/** What finds the members and searches of a block's logic. @param functions names of those that the server calls */
export type UsesOf = (app: App, block: Block, functions: readonly string[]) => Promise<LogicUses>;

/**
 * Members of `context` that do not exist in a block's logic, and its searches with literal texts that must fail: a query that
 * cannot be read, or an index that the app does not declare.
 */
export async function logicFindings(usesOf: UsesOf, app: App, block: Block): Promise<Finding[]> {
  if (!block.logic) return [];
  const file = block.logic.path;
  const { mistakes, searches } = await usesOf(app, block, calledNames(block));
  const members = mistakes.map(
    ({ message, line, column }): Finding => ({
      severity: 'error',
      position: { file, line, column },
      message,
      cure: 'The members of `context` are in docs/reference/logic.md.',
    }),
  );
  // A broken definition declares indexes too.
  if ([...app.blocks.values()].some(({ error }) => error)) return members;
  const failing = searches.flatMap(({ query, sortIndex, mayHaveNames, line, column }): Finding[] => {
    const options = { query: query ?? '', ...(sortIndex === null ? {} : { sortIndex }) };
    const reason = searchProblem(app.indexes, options, mayHaveNames);
    const position = { file, line, column };
    const cure = 'Give the element an `index_type` in its definition, or correct the query.';
    return reason === null ? [] : [{ severity: 'error', position, message: `This search fails: ${reason}`, cure }];
  });
  return [...members, ...failing];
}
