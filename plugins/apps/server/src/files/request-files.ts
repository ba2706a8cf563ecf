import { PictureRefused } from './pictures';
import { isStoredFile } from './stored';
import type { FilePlace, FileScope, Files, RefusedFile, StoredFile, TemporaryFile } from './types';

/** Why the media library did not take a file. */
const REFUSED = 'file_refused';

/** Why a file of a form that is shown again is not there. */
const AGAIN = 'file_again';

/** Why a kept file is not there. */
const GONE = 'file_gone';

/** Names of errors with which the media library refuses a file. */
const refusals = new Set(['ApplicationError', 'ValidationError', 'PayloadTooLargeError']);

/** Why the media library did not take a file. Throws an error that says nothing about the file. */
function refusalOf(error: unknown): RefusedFile {
  if (error instanceof PictureRefused) return error.refused;
  if (!refusals.has((error as Error).name)) throw error;
  return { problem: REFUSED };
}

/**
 * The field that a part of a form belongs to: an element, or `<group>:<field>` for `<group>:<number>:<field>`, because the
 * entries of a repeated group move. Null for a name that no field has.
 */
export function fieldOf(part: string): string | null {
  const [, element, field] = /^([^:]+)(?::\d{1,9}:([^:]+))?$/s.exec(part) ?? [];
  if (element === undefined) return null;
  return field === undefined ? element : `${element}:${field}`;
}

/** The files of one request: those that it has sent, and those of the form's earlier submissions. */
export class RequestFiles {
  private readonly received = new Map<string, (TemporaryFile | RefusedFile)[]>();
  private readonly claimed = new Map<string, TemporaryFile>();
  private readonly added = new Map<string, StoredFile | RefusedFile>();
  private readonly kept = new Set<string>();
  private readonly saved = new Set<string>();
  private readonly refused = new Set<string>();
  private hasEnded = false;

  constructor(
    private readonly files: Files,
    private readonly scope: Omit<FileScope, 'field'>,
    /** A name that all requests of the sender have in common: kept files are counted by it. */
    private readonly sender: () => string,
  ) {}

  /** Takes a file of the request, or removes it at once where the request has ended. */
  receive(part: string, file: TemporaryFile | RefusedFile): void {
    if (this.hasEnded && 'token' in file) void this.files.temporary.remove(file).catch(() => undefined);
    this.received.set(part, [...(this.received.get(part) ?? []), file]);
  }

  /** Notes that a file was sent and not taken, because the sender's token is not valid or a right is missing. */
  skip(part: string): void {
    if (!this.refused.has(part)) this.receive(part, { problem: AGAIN });
    this.refused.add(part);
  }

  /** The parts of the form with files. */
  parts(): string[] {
    return [...this.received.keys()];
  }

  /** Files that a part of the form has sent, with what is wrong with them. */
  of(part: string): (TemporaryFile | RefusedFile)[] {
    return (this.received.get(part) ?? []).map((file) => this.withProblem(file));
  }

  /** The file that an earlier submission of the form has sent; null if it no longer exists. */
  async claim(field: string, token: string): Promise<TemporaryFile | RefusedFile | null> {
    const file = this.claimed.get(token) ?? (await this.files.temporary.claim(token, { ...this.scope, field }));
    if (!file) return null;
    this.claimed.set(token, file);
    return this.withProblem(file);
  }

  /**
   * Keeps a file for the form's next submission. False where it finds no room; it has a problem from then on. Claim the
   * form's kept files before: they do not give way to it.
   */
  async keep(file: TemporaryFile): Promise<boolean> {
    const stays = new Set([...this.kept, ...this.claimed.keys()]);
    const keeps = await this.files.temporary.keep(file, this.sender(), stays);
    if (keeps) this.kept.add(file.token);
    else this.added.set(file.token, { problem: AGAIN });
    return keeps;
  }

  /** The stored file; undefined before `add`. */
  stored(file: TemporaryFile): StoredFile | undefined {
    const found = this.added.get(file.token);
    return isStoredFile(found) ? found : undefined;
  }

  /** The document ids of the files that this request has stored, for records of its app. */
  storedIds({ site, app }: Omit<FileScope, 'field'>): Set<string> {
    if (site !== this.scope.site || app !== this.scope.app) return new Set();
    return new Set([...this.added.values()].filter(isStoredFile).map(({ documentId }) => documentId));
  }

  /** Stores files. One that Strapi refuses has a problem from then on. */
  async add(files: readonly TemporaryFile[], placeOf: (field: string) => FilePlace): Promise<void> {
    for (const file of files) {
      try {
        this.added.set(file.token, await this.files.add(file, placeOf(file.field)));
      } catch (error) {
        // It may have given way to another file since this request has claimed it.
        const isGone = !(await this.files.temporary.isThere(file));
        this.added.set(file.token, isGone ? { problem: GONE } : refusalOf(error));
      }
    }
  }

  /** After the request's work: stored files that no saved record names are removed. */
  async finish(saved: ReadonlySet<string>): Promise<void> {
    for (const [token, file] of this.added) if (isStoredFile(file) && saved.has(file.documentId)) this.saved.add(token);
    const added = [...this.added.values()].filter(isStoredFile).map(({ documentId }) => documentId);
    const unused = added.filter((id) => !saved.has(id));
    const used = added.filter((id) => saved.has(id));
    // A file that the library has refused has its problem still when the form is shown again.
    for (const [token, file] of this.added) if (isStoredFile(file)) this.added.delete(token);
    if (unused.length > 0) await this.files.discard(unused);
    if (used.length > 0) await this.files.saved(used);
  }

  /** After the answer: removes the temporary files that no form waits for. */
  async end(): Promise<void> {
    this.hasEnded = true;
    const received = [...this.received.values()].flat().filter((file) => 'token' in file);
    const unwanted = received.filter(({ token }) => !this.kept.has(token));
    const done = [...this.claimed.values()].filter(({ token }) => this.saved.has(token));
    for (const file of [...unwanted, ...done]) await this.files.temporary.remove(file);
  }

  private withProblem(file: TemporaryFile | RefusedFile): TemporaryFile | RefusedFile {
    const found = 'token' in file ? this.added.get(file.token) : undefined;
    return found && 'problem' in found ? found : file;
  }
}
