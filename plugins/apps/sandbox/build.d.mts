/** Builds the runner program (CommonJS, for Node) into the file `outfile`. */
export function buildRunner(outfile: string): Promise<unknown>;
/** The text of a program that runs inside of isolates: `apps:prelude` or `apps:python`. */
export declare function bundleInside(name: string): Promise<string>;
