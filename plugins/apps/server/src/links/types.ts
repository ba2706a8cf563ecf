import type { StoredFile } from '../files';
import type { AppKey, CommitWrite } from '../records/types';

/**
 * What a link is for: `mine`: its holder opens an own record; `draft`: continues a draft; `confirm`: confirms the address in a record.
 * A token of one purpose is none of another.
 */
export type LinkPurpose = RecordLinkPurpose | 'draft';

/** What a link to a record is for. */
export type RecordLinkPurpose = 'mine' | 'confirm';

/** The record that a link leads to. */
export interface LinkTarget {
  key: AppKey;
  purpose: RecordLinkPurpose;
  /** The id of the record. */
  id: string;
}

/** A stored link. Times are milliseconds since the epoch. */
export interface Link extends LinkTarget {
  /** Chosen at random. It is no token: that has a signature too. */
  linkId: string;
  /** `StoredRecord.seq`, which a later record of the same id does not have. */
  seq: number;
  madeAt: number;
  /** When it was used, for a link that is used once; else null. */
  usedAt: number | null;
}

/**
 * Links whose holder may do something with one record (docs/decisions/signed-links.md). The token is the random id of a row and a
 * signature by Strapi's keys: the row alone makes no token, and without its row a token leads nowhere.
 */
export interface Links {
  /** The token of a link. */
  token(link: Pick<Link, 'linkId' | 'purpose' | 'key'>): string;
  /** A new link to a record that the same transaction has written. @returns its id, and the write that stores it */
  issue(target: LinkTarget): { linkId: string; write: CommitWrite };
  /**
   * The link of a token; null for one that is forged, revoked, of another purpose, app or site, or whose record is gone. Each takes one
   * search in the table.
   */
  find(key: AppKey, purpose: RecordLinkPurpose, token: string): Promise<Link | null>;
  /** The links of a record, the oldest first. */
  ofRecord(target: LinkTarget): Promise<Link[]>;
  /** Ends a link: its token is unknown from then on. */
  revoke(linkId: string): CommitWrite;
  /** Ends all links to a record. */
  forget(key: AppKey, id: string): CommitWrite;
  /** Runs a write of links at once, without other work. */
  now(write: CommitWrite): Promise<void>;
  /** Deletes links whose records are gone. */
  prune(): Promise<void>;
  /** Begins to delete them each hour. */
  start(): void;
  destroy(): void;
}

/** What was entered in a form, to be continued later. */
export interface DraftContent {
  /** The fields of the form as a browser has sent them; files by the ids of `files`. */
  fields: Readonly<Record<string, readonly string[]>>;
  /** The inputs that the form had, by name, with their labels: the definition may change meanwhile. */
  inputs: Readonly<Record<string, string>>;
  /** The stored files of its fields. */
  files: readonly StoredFile[];
}

/** A draft before it is stored. */
export interface NewDraft {
  draftId: string;
  key: AppKey;
  block: string;
  /** The creator that its record gets where who sends it is not known; null: none. */
  owner: string | null;
  /** A name that all requests of its sender have in common. */
  sender: string;
  content: DraftContent;
  /** When it ends, in milliseconds since 1970. */
  endsAt: number;
}

/** A stored draft. */
export interface Draft extends NewDraft {
  savedAt: number;
  /** Whether its form was sent: nothing is left of it but the answer to a request that comes again. */
  isSent: boolean;
}

/** A draft as a list shows it: without what was entered. */
export type ListedDraft = Pick<Draft, 'draftId' | 'block' | 'owner' | 'savedAt' | 'endsAt'> & {
  /** With its files. */ bytes: number;
};

/** How many drafts there may be (docs/limits.md). */
export interface DraftLimits {
  /** Of an app. */
  drafts: number;
  /** Of one sender in an app. */
  draftsOfSender: number;
  /** Bytes of all drafts of an app, files included; those of one sender an eighth. */
  draftSize: number;
}

/** Which bound a draft would exceed: of its sender, or of all drafts of the app. */
export type FullDrafts = 'sender' | 'app';

/**
 * Drafts of forms (docs/decisions/drafts.md): apart from records, so that no limit, no index, no list and no count has them. Each is opened by a
 * link, whose token is made and checked as those of `Links`.
 */
export interface Drafts {
  /** An id for a new draft. */
  newId(): string;
  token(draft: Pick<Draft, 'draftId' | 'key'>): string;
  /** The draft of a token; null for one that is forged, revoked, over, or of another purpose, app or site. One that was sent is found for a day. */
  find(key: AppKey, token: string): Promise<Draft | null>;
  /** Whether the token was made for a draft of the app, which may have ended since: its signature says so, without a search. */
  isToken(key: AppKey, token: string): boolean;
  /** Which bound the draft would exceed; null: none. Drafts that are saved at the same moment do not count each other. */
  full(draft: NewDraft): Promise<FullDrafts | null>;
  /** Stores a draft, or what it has become. DraftEnded for a change of one that has ended meanwhile. */
  save(draft: NewDraft, isNew: boolean): CommitWrite;
  /** Ends a draft with the record that its form has made. DraftEnded where it has ended meanwhile. */
  sent(draft: Pick<Draft, 'draftId' | 'key'>): CommitWrite;
  /** Ends a draft with its files. @returns whether there was one */
  remove(key: AppKey, draftId: string): Promise<boolean>;
  /** The latest drafts of an app, and how many there are. */
  list(key: AppKey, limit: number): Promise<{ drafts: ListedDraft[]; total: number }>;
  /** Those of the files that drafts of the app have. */
  namedFiles(key: AppKey, documentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Deletes drafts that are over, with their files. */
  prune(): Promise<void>;
  /** Begins to delete them each hour. */
  start(): void;
  destroy(): void;
}
