import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { fileNameProblem } from '../sites';

/** A ZIP or a folder that cannot be used at all. */
export class ArchiveError extends Error {
  /** @param cure what can be done about it */
  constructor(
    message: string,
    readonly cure?: string,
  ) {
    super(message);
  }
}

/** Bounds of a ZIP that is read (docs/reference/import-export.md#what-is-checked). */
export const archiveLimits = {
  entries: 5_000,
  /** Bytes of one file, unpacked. */
  file: 50 * 1024 * 1024,
  /** Bytes of all files, unpacked. */
  total: 250 * 1024 * 1024,
  /** Times that a file may be larger than its packed form; smaller files than `ratioFrom` bytes may be more. */
  ratio: 200,
  ratioFrom: 1024 * 1024,
  /** Characters of a path, and its folders. */
  path: 255,
  depth: 12,
};

/** A file of a ZIP: its path as checked, and the entry that holds it. */
export interface ArchiveFile {
  path: string;
  entry: Entry;
}

/** Hidden names, and those that programs for archives add: a theme's reader and an export leave them out, too. */
const ignored = /^(__MACOSX|Thumbs\.db|\..*)$/;

/** Paths with `.` or `..` are not ignored but refused, by `pathProblem`. */
function isIgnored(path: string): boolean {
  const parts = path.split(/[\\/]/);
  return parts.some((part) => ignored.test(part)) && !parts.some((part) => part === '.' || part === '..');
}

/** Why a path must not be unpacked, or null. Folders of a ZIP end with a slash. */
function pathProblem(path: string): string | null {
  const parts = path.replace(/\/$/, '').split('/');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is an absolute path';
  if (parts.includes('..')) return 'leaves its folder';
  if (path.includes('\\')) return 'has a backslash';
  if (parts.some((part) => part === '' || part === '.')) return 'has an empty part';
  for (const part of parts) {
    const problem = fileNameProblem(part);
    if (problem) return part === path ? problem : `has a part that ${problem}: "${printable(part)}"`;
  }
  if (path.length > archiveLimits.path) return `has more than ${archiveLimits.path} characters`;
  if (parts.length > archiveLimits.depth) return `has more than ${archiveLimits.depth} folders`;
  return null;
}

/** File types of Unix in the attributes of an entry. */
const TYPE_MASK = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

/** Why an entry must not be unpacked, or null. */
function entryProblem(entry: Entry): string | null {
  const { compressedSize: packed, uncompressedSize: size, externalFileAttributes, generalPurposeBitFlag } = entry;
  const type = (externalFileAttributes >>> 16) & TYPE_MASK;
  // 0: a system that does not say.
  if (type !== 0 && type !== REGULAR && type !== FOLDER) return 'is a link or a device, not a file';
  if (generalPurposeBitFlag & 1) return 'is encrypted';
  if (![0, 8].includes(entry.compressionMethod)) return 'is packed by a method that is not known';
  if (size > archiveLimits.file) return `is larger than ${archiveLimits.file / 1024 / 1024} MB`;
  if (size > archiveLimits.ratioFrom && size > packed * archiveLimits.ratio)
    return `is more than ${archiveLimits.ratio} times as large as its packed form`;
  return null;
}

/** The form in which two paths are the same file on systems that ignore case or write accents otherwise. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase();

/** Opens a ZIP. Throws ArchiveError for a file that is none. */
export async function openArchive(file: string): Promise<ZipFile> {
  try {
    // Names are checked by `pathProblem`: all wrong ones are listed, not the first alone.
    return await openPromise(file, { lazyEntries: true, autoClose: false, decodeStrings: false });
  } catch (error) {
    throw new ArchiveError(`${file} cannot be read as a ZIP: ${(error as Error).message}`);
  }
}

/** The files of a ZIP, and why it must not be unpacked: one sentence for each wrong entry. */
export async function filesOf(zip: ZipFile): Promise<{ files: ArchiveFile[]; problems: string[] }> {
  const problems: string[] = [];
  if (zip.entryCount > archiveLimits.entries) {
    return { files: [], problems: [`The ZIP has more than ${archiveLimits.entries} files`] };
  }
  const files: ArchiveFile[] = [];
  const seen = new Map<string, string>();
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    const path = nameOf(entry);
    if (isIgnored(path)) continue;
    const problem = pathProblem(path) ?? entryProblem(entry) ?? clashProblem(path, seen);
    if (problem) problems.push(`"${printable(path)}" ${problem}`);
    total += entry.uncompressedSize;
    if (!path.endsWith('/')) files.push({ path, entry });
  }
  if (total > archiveLimits.total)
    problems.push(`The files are larger than ${archiveLimits.total / 1024 / 1024} MB together`);
  return { files, problems };
}

/** Bit of the entry's flags: its name is UTF-8. Other names are read as if they were; most are ASCII. */
function nameOf({ fileName }: Entry): string {
  return (fileName as unknown as Buffer).toString('utf8').replaceAll('\ufffd', '?');
}

/** Why a path cannot be beside those that were seen, or null: the same name twice, or a file that is a folder of others. */
function clashProblem(path: string, seen: Map<string, string>): string | null {
  const isFolder = path.endsWith('/');
  const parts = path.replace(/\/$/, '').split('/');
  for (let length = 1; length <= parts.length; length += 1) {
    const own = parts.slice(0, length).join('/');
    const shape = length < parts.length || isFolder ? `${own}/` : own;
    const known = seen.get(folded(own));
    if (known === undefined) seen.set(folded(own), shape);
    else if (known !== shape || (length === parts.length && !isFolder)) return `clashes with "${printable(known)}"`;
  }
  return null;
}

const printable = (path: string): string => path.replace(/\p{Cc}/gu, '?').slice(0, 300);
