/** Builds the runner program (CommonJS, for Node) into the file `outfile`. */
export function buildRunner(outfile: string): Promise<unknown>;
