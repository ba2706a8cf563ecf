import { bundle } from '../server/build.mjs';

/** Builds the process that runs the tests of apps (CommonJS, for Node) into the file `outfile`; packages stay dependencies. */
export const buildTesting = (outfile) => bundle('../testing/src/main.ts', outfile);

/** Builds its reporter; Node.js loads it as a module. */
export const buildReporter = (outfile) => bundle('../testing/src/reporter.ts', outfile, { format: 'esm' });
