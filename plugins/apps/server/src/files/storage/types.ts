import type { Readable } from 'node:stream';

/** A file as an upload provider of Strapi's knows it. */
export interface ProvidedFile {
  name: string;
  hash: string;
  ext: string;
  mime: string;
  /** Of the storage, without a signature. */
  url: string;
  provider_metadata?: unknown;
}

/** One stored content: that of a file, or its thumbnail. */
export interface StoredPart {
  mime: string;
  /** Bytes. */
  size: number;
  /** As the provider has stored it; null: it is in the folder. */
  provided: ProvidedFile | null;
}

/** What is to be stored. */
export interface PartSource {
  /** The name of the file, with its ending. */
  name: string;
  mime: string;
  /** Bytes. */
  size: number;
  getStream(): Readable;
}

/** A stored content that this process can read. */
export interface StoredBytes {
  /** Bytes. */
  size: number;
  /** The bytes from `start` to `end`, both included; null where they are gone. Called once at most. ServiceUnavailableError where the storage does not answer. */
  read(start: number, end: number): Promise<Readable | null>;
  /** To be called where `read` was not; else nothing happens. */
  close(): Promise<void>;
}

/** Where a stored content can be read: by this process, or at an address that holds for a moment. */
export type OpenedPart = StoredBytes | { url: string };

/** A place for bytes that only the plugin gives away. */
export interface Store {
  /** What a row has of a content before it is stored: by it an interrupted one can be removed. */
  planned(key: string, source: Omit<PartSource, 'getStream'>): StoredPart;
  /** Stores bytes under a key; they are on the disk, or at the provider, when it resolves. */
  put(key: string, source: PartSource): Promise<StoredPart>;
  /** Null where the bytes are gone. */
  open(key: string, part: StoredPart): Promise<OpenedPart | null>;
  /** Removes bytes; without an error where there are none. */
  remove(key: string, part: StoredPart): Promise<void>;
}

/** The stores of a host, of which new files go to one (docs/decisions/object-storage.md). */
export interface Storage {
  /** The name of the store for new files; null: the folder. */
  current(): Promise<string | null>;
  /** The store of a name that `current` has given, now or earlier. ServiceUnavailableError where the host has it no longer. */
  store(name: string | null): Promise<Store>;
  /** Finds out whether new files can be stored, so that the log says it before a visitor learns of it. Never rejects. */
  check(): Promise<void>;
}
