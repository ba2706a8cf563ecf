import { bundle } from '../server/build.mjs';

/** Builds the command line (CommonJS, for Node) into the file `outfile`; packages stay dependencies. */
export const buildCli = (outfile) => bundle('../cli/src/index.ts', outfile);
