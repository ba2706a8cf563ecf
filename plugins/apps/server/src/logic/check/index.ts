import { z } from 'zod';
import { isAppsError } from '../../common/errors';
import { WorkerFailure, type Workers } from '../../workers';
import { MAX_COMPILE_TIME, MAX_SIZES } from '../compile/task-types';
import type { LogicProgram } from '../types';
import type { CheckInput, LogicUses } from './members';

export type { LiteralSearch, LogicUses, MemberMistake } from './members';

const nothing: LogicUses = { mistakes: [], searches: [] };

/**
 * The members that do not exist and the literal searches in a block's logic file (docs/reference/command-line.md#lint-target).
 * Nothing for a file that cannot be checked within the limits.
 * @param functions names of the functions that the server calls with `context`
 */
export async function checkProgram(
  workers: Pick<Workers, 'run'>,
  { path, language, files, scope }: LogicProgram,
  functions: readonly string[],
): Promise<LogicUses> {
  const text = files.get(path)?.text ?? '';
  const kind = language === 'python' ? 'python' : 'javascript';
  const input: CheckInput = { language: kind, path, text, functions, assigned: assignedIn(files.values()) };
  try {
    const options = { time: MAX_COMPILE_TIME, byProcessor: true, group: scope };
    return usesIn(await workers.run('checkLogic', input, options));
  } catch (error) {
    if (error instanceof WorkerFailure || isAppsError(error, 'ServiceUnavailableError')) return nothing;
    throw error;
  }
}

const place = { line: z.number().int().positive(), column: z.number().int().positive() };
const text = z.string().max(MAX_SIZES.file).nullable();
const answer = z.object({
  mistakes: z.array(z.object({ message: z.string().max(1_000), ...place })),
  searches: z.array(z.object({ query: text, sortIndex: text, mayHaveNames: z.boolean(), ...place })),
});

/** The answer of the task; Error for one that is none. */
function usesIn(output: unknown): LogicUses {
  const { success, data } = answer.safeParse(output);
  if (!success) throw new Error('What the check of logic answers is no answer');
  return data;
}

/** Setting a property: `context.total = 1`, `context.total += 1`. */
const SETS = /\.([A-Za-z_$][\w$]*)\s*(?:[-+*/%&|^?]{1,3}|<<|>>>?)?=(?![=>])/g;

/** Setting properties of names that are not in the text. */
const SETS_ANY =
  /\bassign\s*\(\s*context\b|\bsetattr\s*\(\s*context\b|\bcontext\s*\[|\bdefineProperty\s*\(\s*context\b/;

/** The properties that the logic of an app sets on any object; null where it sets others too. */
export function assignedIn(files: Iterable<{ path: string; text: string }>): string[] | null {
  const found = new Set<string>();
  for (const { path, text } of files) {
    if (!/\.(?:js|ts|py)$/.test(path)) continue;
    if (SETS_ANY.test(text)) return null;
    for (const [, name = ''] of text.matchAll(SETS)) found.add(name);
  }
  return [...found];
}
