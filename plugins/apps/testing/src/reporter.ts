import { readFileSync } from 'node:fs';
import type { TestEvent as NodeEvent } from 'node:test/reporters';
import { excerptOf } from '../../shared/positions';
import type { TestEvent, TestFailure } from '../../shared/test-events';
import type { WithLog } from './runner';

/** Frames of a stack that name a file. */
const FRAME = /\(?(?:file:\/\/)?(\/[^()]+|[A-Z]:\\[^()]+):(\d+):(\d+)\)?$/;

/**
 * Reporter of node:test (`--test-reporter`): sends each result to the process that has started this one. Prints nothing.
 */
export default async function* report(source: AsyncIterable<NodeEvent>): AsyncGenerator<string> {
  /** Titles of the groups and the test that have begun, by their depth. */
  const titles: string[] = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      titles.length = data.nesting;
      titles[data.nesting] = data.name;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { nesting, name, details, skip, todo } = data;
    const failed = type === 'test:fail' && todo === undefined;
    // A group has a result of its own only where its code or a hook has failed, or where it is skipped: its tests are not known.
    const isGroup = details.type === 'suite';
    const isOwn = !isGroup || skip !== undefined || (failed && isOwnFailure(details as WithFailure));
    if (nesting === 0 || !isOwn) continue;
    const [app, file] = JSON.parse(titles[0] ?? '["",""]') as [string, string];
    const result: TestEvent = {
      type: 'test',
      app,
      file,
      title: [...titles.slice(1, nesting), name],
      status: failed ? 'failed' : skip !== undefined || todo !== undefined ? 'skipped' : 'passed',
      milliseconds: Math.round(details.duration_ms),
      ...(failed && { failure: failureOf((details as { error?: Error }).error, file) }),
    };
    process.send?.(result);
  }
  yield '';
}

type WithFailure = { error?: Error & { failureType?: string } };

/** Failures of a group that follow from those of its tests, or of what it is in. */
const FOLLOWS = new Set<string | undefined>(['subtestsFailed', 'cancelledByParent']);

const isOwnFailure = ({ error }: WithFailure): boolean => error !== undefined && !FOLLOWS.has(error.failureType);

/** node:test wraps what a test has thrown. */
function failureOf(wrapped: Error | undefined, file: string): TestFailure {
  const error = (wrapped?.cause instanceof Error ? wrapped.cause : wrapped) as (Error & WithLog) | undefined;
  if (!error) return { message: 'The test has failed', at: [], errors: [], log: [] };
  const name = error.name === 'Error' || error.name === 'AssertionError' ? '' : `${error.name}: `;
  const { appsErrors: errors = [], appsLog: log = [] } = error;
  return { message: name + error.message, at: framesOf(error.stack ?? '', file), errors, log };
}

/** The frames in files of tests and apps, the innermost first, and the lines they name. */
function framesOf(stack: string, testFile: string): TestFailure['at'] {
  const folder = testFile.split('/')[0] ?? '';
  return stack
    .split('\n')
    .flatMap((line) => {
      const [, file, row, column] = FRAME.exec(line.trim()) ?? [];
      if (!file?.replaceAll('\\', '/').includes(`/${folder}/`) || file.includes('node_modules')) return [];
      const position = { file, line: Number(row), column: Number(column) };
      return [{ ...position, excerpt: excerptIn(file, position) }];
    })
    .slice(0, 3);
}

function excerptIn(path: string, position: { file: string; line: number; column: number }): string | null {
  try {
    return excerptOf(readFileSync(path, 'utf8'), position);
  } catch {
    return null;
  }
}
