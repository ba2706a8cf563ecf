/** Files of a theme, and the problems that `lint` finds in them. */
export interface Mistake {
  title: string;
  /** Files by their path in a theme of its own. */
  files: Record<string, string | Buffer>;
  /** `<severity> <file>[:<line>[:<column>]] <message>` of every problem of the theme, in their order. */
  finds: (string | RegExp)[];
  cure?: RegExp;
}

/** The path of a block's files, without their ending. */
export const block = 'apps/a/blocks/b';
