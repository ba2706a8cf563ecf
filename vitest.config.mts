import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const exclude = ['**/node_modules/**', '**/dist/**'];

/** Unit tests that wait for time limits, start processes, compile or build much. TEST_SLOW=false leaves them out. */
const slowTests = [
  '**/limits.test.ts',
  '**/where.test.ts',
  '**/failing-runner.test.ts',
  '**/long-reads.test.ts',
  '**/workers.test.ts',
  '**/sorted-terms.test.ts',
  '**/records/search.test.ts',
  '**/compiler.test.ts',
  '**/python.test.ts',
  '**/open-inside.test.ts',
  '**/globals.test.ts',
  '**/reused.test.ts',
  '**/editor.test.ts',
  '**/sandbox-command.test.ts',
  '**/confinement.test.ts',
  '**/records/indexes.test.ts',
  'scripts/docs-site.test.mjs',
  'scripts/package.test.mjs',
];
const slow = process.env.TEST_SLOW === 'false' ? slowTests : [];

/** The short form of `npm run test:hostile`. */
const attacks = 'tests/themes/attacks.test.ts';

/** Files that take longest. They start first, in this order, so that no worker waits for one of them at the end. */
const longest = [
  'command-line/app-tests',
  'rules/ways',
  'operations/rivals',
  'rules/receipts',
  'operations/concurrency',
  'forms/drafts',
  'forms/private-files',
  'operations/killed-processes',
  'forms/edited',
  'docs/recipes',
  'command-line/records',
  'embedding/exact-random',
  'accounts/persons',
  'demo/pages',
  'admin/stored-runs',
  'accounts/json-use',
  'rules/places',
  'rules/databases',
  'embedding/blocks',
  'embedding/exact-races',
  'forms/own-links',
  'forms/visitors',
  'embedding/live-tabs',
  'rules/states',
  'demo/visits',
  'demo/card',
  'rules/fuzz',
  'rules/history',
  'operations/lost-database',
  'operations/processes',
  'records/search.test',
  'scripts/package.test',
  'interchange/office',
];

class LongestFirst extends BaseSequencer {
  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((name) => moduleId.includes(name));
      return at === -1 ? longest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Tests that start hosts. */
const hosts = {
  globalSetup: ['tests/support/build.ts'],
  testTimeout: 60_000,
  hookTimeout: 180_000,
  // A host with the time zone of the tests need not have a process of its own.
  env: { TZ: 'UTC' },
  // What is waited for comes late on a machine that is busy with something else.
  expect: { poll: { timeout: 20_000 } },
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          // Nothing is measured by it: a machine that is busy with something else may take its time.
          testTimeout: 30_000,
          hookTimeout: 60_000,
          // The files of a worker share its modules: to load them for each file took more than the tests.
          isolate: false,
          include: ['plugins/apps/**/*.test.{ts,tsx}', 'scripts/**/*.test.mjs', 'src/**/*.test.ts'],
          exclude: [...exclude, ...slow],
        },
      },
      {
        test: {
          ...hosts,
          name: 'e2e',
          // The files of a worker share its modules, and through them the processes of hosts (tests/README.md).
          isolate: false,
          include: ['tests/**/*.test.ts'],
          exclude: [...exclude, attacks, 'tests/hostile/**', 'tests/panel/**', 'tests/fixtures/**'],
        },
      },
      // After the others: it measures how late answers are, so that nothing may run beside it.
      { test: { ...hosts, name: 'attacks', include: [attacks], exclude } },
      // By itself (`npm run test:panel`): it needs the built admin panel, which takes a minute, and looks at each page of the demo
      // in all sizes and colours. `npm test` runs way.test.ts of it.
      {
        test: {
          ...hosts,
          name: 'panel',
          globalSetup: ['tests/panel/build.ts'],
          testTimeout: 180_000,
          env: { ...hosts.env, TEST_LOOKS: 'all' },
          include: ['tests/panel/**/*.test.ts', 'tests/demo/*pages.test.ts', 'tests/command-line/templates.test.ts'],
          exclude,
        },
      },
      // By itself (`npm run test:hostile`): it fills the machine, and would make other tests late.
      { test: { ...hosts, name: 'hostile', include: ['tests/hostile/**/*.test.ts', 'plugins/apps/sandbox/src/reuse-tests/*.test.ts'], exclude, fileParallelism: false } },
    ],
  },
});
