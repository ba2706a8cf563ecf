import type { FileMoves } from './moves';
import type { PrivateFile } from './private-files';
import type { OpenedPart } from './storage';
import type { TemporaryFiles } from './temporary-files';

export type { ListedFile, MoveOutcome } from './moves';
export type { PrivateFile } from './private-files';
export type { OpenedPart, StoredBytes } from './storage';

/** A file of a record, as its item is stored (docs/reference/definitions.md#files). */
export interface StoredFile {
  id: number;
  documentId: string;
  name: string;
  url: string;
  mime: string;
  /** Bytes. */
  size: number;
  /** Pixels of an image. */
  width?: number;
  height?: number;
}

/** Where the files of a field are stored. */
export interface FilePlace {
  /** In Strapi's media library, where all who know an address read it; else privately. */
  isPublic: boolean;
  /** Of a public file: path of folders below the media library, `a/b`. */
  folder: string | undefined;
}

/** What a file belongs to until its record is saved. */
export interface FileScope {
  site: string;
  app: string;
  /** The field that has sent it: an element, or `<group>:<field>` for all entries of a repeated group. */
  field: string;
}

/** An uploaded file in the temporary folder: only the server can read it. */
export interface TemporaryFile extends FileScope {
  token: string;
  path: string;
  /** Cleaned, with the ending of its content's type. */
  name: string;
  /** The name that the visitor has chosen, for messages. */
  chosen: string;
  mime: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of its bytes: tells it from another file of the same name. */
  digest: string;
  /** Pixels of a picture, all its frames, pages and layers together; null: it is no picture. */
  pixels: number | null;
}

/** Why an uploaded file was not kept: one sentence for the visitor. */
export interface RefusedFile {
  /** A message of the service (apps/locales/messages). */
  problem: FileProblem;
  values?: { size: { bytes: number } } | { name: string; pixels?: number };
}

/** Why a file was not taken or is not there. */
export type FileProblem =
  | 'file_empty'
  | 'file_large'
  | 'file_unknown'
  | 'file_gone'
  | 'file_refused'
  | 'file_again'
  | 'file_pixels'
  | 'file_unreadable'
  | 'file_costly';

/** Files that a form may carry, by field; those of a repeated group for all entries together. */
export type FileRules = ReadonlyMap<string, { /** Bytes of one file. */ maxSize: number /** Files. */; count: number }>;

export interface AppKey {
  site: string;
  app: string;
}

/** What is shown of a file as the media library has it now. */
export interface ShownFile {
  /** With the site's base address, and signed where Strapi's provider signs. */
  url: string;
  mime: string;
  /** Bytes, exact to ten. */
  size: number;
  width?: number;
  height?: number;
  /** Whether the address holds for a time only. */
  isSigned: boolean;
  /** The address of a small picture of an image that has one. */
  thumbnail?: string;
  /** Of a private file. */
  name?: string;
}

/** The addresses that files have at the moment at which they are shown. */
export interface FileAddresses {
  /** Files of the media library by document id, for a whole list of records at once; those that are gone are missing. */
  find(key: AppKey, documentIds: readonly string[]): Promise<ReadonlyMap<string, ShownFile>>;
  /** A copy of the value in which each file has its address of `found`, or that of its record with the base address. */
  put<T>(value: T, found: ReadonlyMap<string, ShownFile>): T;
}

/** Files of records: in the temporary folder until the save, then stored privately or in Strapi's media library (docs/decisions/files.md). */
export interface Files {
  readonly temporary: TemporaryFiles;
  readonly addresses: FileAddresses;
  /**
   * Stores a file. PictureRefused for a picture that cannot be taken, an error of Strapi's for a file that it does not take,
   * ServiceUnavailableError where too many pictures wait.
   */
  add(file: TemporaryFile, place: FilePlace): Promise<StoredFile>;
  /** Those of the files that are private ones, of any app. */
  privateFiles(documentIds: readonly string[]): Promise<PrivateFile[]>;
  /** What is stored of a private file; null where it is gone, or has no thumbnail. ServiceUnavailableError: see Storage.store. */
  open(file: PrivateFile, part: 'main' | 'thumbnail'): Promise<OpenedPart | null>;
  readonly moves: FileMoves;
  /** Those of the files that forms of the app have stored; sizes of the media library are exact to ten bytes. */
  known(key: AppKey, documentIds: readonly string[]): Promise<StoredFile[]>;
  /** Notes that records name these files. Never rejects: a file that could not be marked is looked at later. */
  saved(documentIds: readonly string[]): Promise<void>;
  /** Removes files whose records were not saved. Never rejects, as `saved`. */
  discard(documentIds: readonly string[]): Promise<void>;
  /**
   * Notes that records of the app no longer name these files: those that no other record of it and no content uses are
   * removed later, in batches. Files that no form of the app has put into the media library stay. Never rejects.
   * @param documentIds absent: all of the app
   */
  release(key: AppKey, documentIds?: readonly string[]): Promise<void>;
  /** Removes what waits for too long, and what processes that ended early have left: now, and every ten minutes. Never rejects. */
  start(): Promise<void>;
  /** Waits for removals that have begun, and ends the process that works on pictures. */
  destroy(): Promise<void>;
}
