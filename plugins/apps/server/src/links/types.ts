import type { AppKey, CommitWrite } from '../records/types';

/** What a link is for: `mine`: its holder opens an own record. A token of one purpose is none of another. */
export type LinkPurpose = 'mine';

/** The record that a link leads to. */
export interface LinkTarget {
  key: AppKey;
  purpose: LinkPurpose;
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
  find(key: AppKey, purpose: LinkPurpose, token: string): Promise<Link | null>;
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
