/** One attack: the files of its block, its request, and the expected answer. */
export interface Case {
  /** Also the id of its block. `memory-…` runs alone in the runner. */
  name: string;
  /** Logic, whose function `f` is called; one of the two, or neither. */
  js?: string;
  py?: string;
  /** Default `elements:\n  f: BASIC`. */
  definition?: string;
  layout?: string;
  method?: 'GET' | 'POST';
  /** Path of the app's content, e.g. `/articles/one`. */
  content?: string;
  /** Appended to the block's path; default `/f`. '' is the block itself, as a page. */
  path?: string;
  form?: Record<string, string>;
  /** The whole path, instead of the block's. */
  address?: string;

  status: number | readonly number[];
  /** The error's name; without it, one that belongs to the status. */
  error?: string;
  message?: RegExp;
  /** The whole body, parsed. */
  is?: unknown;
  has?: RegExp;
  lacks?: RegExp;
  /** Response headers; null: absent. */
  headers?: Record<string, string | null>;
}

/** An attack that once succeeded: a case with further expectations besides its answer. */
export interface Regression extends Case {
  /** Maximum milliseconds for which the server's event loop may be blocked. */
  calm?: number;
  /** Must not match the server's output. */
  unprinted?: RegExp;
  /** A case that five clients request repeatedly meanwhile. */
  beside?: string;
  /** The server may run the request again, which takes longer than one run. */
  again?: boolean;
}

/** The position that a message begins with. */
const position = String.raw`apps/[\w.-]+/[\w./-]+(?::\d+)*: `;

export const timeout = { status: 504, error: 'LogicTimeoutError' } as const;
/** The memory limit is reached, or on a slow machine the time limit before it. */
export const memory = {
  status: [500, 504],
  message: new RegExp(`^(${position})?The logic (used more than 64 MB of memory|of this request ran longer than)`),
} as const;
export const broken = { status: 500, error: 'DefinitionError' } as const;

/** The function throws. @param message `^` stands for the position before it */
export const throws = ({ source }: RegExp) =>
  ({ status: 500, error: 'LogicError', message: new RegExp(source.replace(/^\^/, `^${position}`)) }) as const;

/** The function's value. */
export const gives = (is: unknown) => ({ status: 200, is }) as const;

/** JavaScript: puts the calls that were not refused into `out`, by the name of the expected error. */
export const attempt = `const out = [];
      const expectError = (name, label, call) => {
        try { out.push([label, JSON.stringify(call())?.slice(0, 80)]); } catch (error) { if (!name.test(error.name)) out.push([label, error.name, error.message.slice(0, 80)]); }
      };`;

/** JavaScript of the type that the app's content is of. */
export const article = `api.documents('api::article.article')`;
