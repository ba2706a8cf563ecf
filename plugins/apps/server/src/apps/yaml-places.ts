/** Keys and indexes that lead from the root of a YAML file to a value. */
export type Path = readonly (string | number)[];

/** Offsets of all values and keys by their path, as far as they are written out; an alias is one value. */
export class Places {
  readonly values = new Map<string, number>();
  readonly keys = new Map<string, number>();
  /** Offsets at which the lines begin. */
  readonly #lines: readonly number[];

  constructor(text: string) {
    this.#lines = [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)];
  }

  /** Notes where a value begins; an empty one, which stands nowhere, stands where its key does. */
  begins(path: Path, start: number): void {
    const offset = start < 0 ? this.keys.get(pathKey(path)) : start;
    if (offset !== undefined) this.values.set(pathKey(path), offset);
  }

  /** Line and column, counted from 1, of a path or of the nearest thing around it. */
  find(path: Path, kind: 'values' | 'keys'): { line: number; column: number } {
    let offset = this[kind].get(pathKey(path));
    for (let size = path.length; offset === undefined && size >= 0; size -= 1) {
      offset = this.values.get(pathKey(path.slice(0, size)));
    }
    return this.#lineAt(offset ?? 0);
  }

  #lineAt(offset: number): { line: number; column: number } {
    let [low, high] = [0, this.#lines.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.#lines[low] as number) + 1 };
  }
}

export function pathKey(path: Path): string {
  return JSON.stringify(path);
}
