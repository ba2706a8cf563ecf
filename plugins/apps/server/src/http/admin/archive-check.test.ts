import { expect, test, vi } from 'vitest';
import type { Unpacked } from '../../archive';
import type { HttpServices } from '../request/exchange';
import { testsOf } from './archives';

const files = (...paths: string[]) => new Map(paths.map((path) => [path, {}]));
const unpacked = (...paths: string[]) =>
  ({ contents: { kind: 'app', id: 'a', files: files(...paths) }, folder: '/none', into: null }) as unknown as Unpacked;

const one = 'tests/deep/a.test.ts';
const runTests = vi.fn();

test.each<[archiveTests: boolean | null, development: boolean, paths: string[], wanted: boolean, state: string]>([
  [null, false, [one], true, 'off'],
  [false, true, [one], true, 'off'],
  [null, true, [one], false, 'ready'],
  [true, false, [one], false, 'ready'],
  [true, true, ['blocks/a.test.js', 'tests/a.js', 'tests/a.test.py', 'lib/tests.test.js'], true, 'none'],
])(
  'archiveTests %j, in development %j, files %j, wanted %j: %s',
  async (archiveTests, development, paths, wanted, state) => {
    const services = { config: { archiveTests, appsFolder: 'apps', sites: [] }, development, runTests };
    const tests = await testsOf(services as unknown as HttpServices, unpacked(...paths), wanted);
    expect(tests.state).toBe(state);
    expect(runTests).not.toHaveBeenCalled();
  },
);
