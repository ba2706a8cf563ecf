/** One file of a block's logic for the check. */
export interface CheckInput {
  language: 'javascript' | 'python';
  path: string;
  text: string;
  /** Names of the functions that the server calls with `context`. */
  functions: readonly string[];
  /** Properties that logic of the app sets on any object; null where names are computed. */
  assigned: readonly string[] | null;
}

/** A search or count in logic whose arguments are literal texts. */
export interface LiteralSearch {
  /** Null: not a literal text. */
  query: string | null;
  sortIndex: string | null;
  /** Whether the values of names in the query may be given. */
  mayHaveNames: boolean;
  line: number;
  column: number;
}

/** A method or property that does not exist. */
export interface MemberMistake {
  message: string;
  line: number;
  column: number;
}

/** What the check of a file finds. */
export interface LogicUses {
  mistakes: MemberMistake[];
  /** Of the app whose logic it is. */
  searches: LiteralSearch[];
}
