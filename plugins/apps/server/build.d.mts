/** Builds Strapi's part (CommonJS, for Node) into the file `outfile`. */
export function buildServer(outfile: string): Promise<unknown>;

/** Builds the program of the worker processes, or a test's own `source` (from this folder), into the file `outfile`. */
export function buildWorker(outfile: string, source?: string): Promise<unknown>;
