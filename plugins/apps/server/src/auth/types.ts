import type { Items } from '../../../shared/json';

/** How the requester proved who they are; part of what a CSRF token is bound to. */
export type CredentialKind = 'anonymous' | 'basic' | 'bearer' | 'cookie';

/** The plugin's Strapi actions (docs/reference/rights.md#strapis-permissions). */
export type AppsAction =
  | 'plugin::apps.record.find'
  | 'plugin::apps.record.create'
  | 'plugin::apps.record.update'
  | 'plugin::apps.record.delete'
  | 'plugin::apps.app.manage';

/**
 * The sender of a request (docs/reference/rights.md#credentials). Immutable; read for each request, but concurrent requests
 * may share one.
 */
export interface Requester {
  readonly kind: 'anonymous' | 'user' | 'token' | 'administrator';
  readonly credential: CredentialKind;
  /** `''` for anonymous, else `user:<documentId>`, `token:<id>`, `admin:<id>`: what is stored as a record's creator. */
  readonly identity: string;
  /** The id of the admin token by which an administrator has asked: they have its permissions, not their own. */
  readonly adminToken?: number;
  /** A user's username, an administrator's e-mail, a token's name, null for anonymous. */
  readonly username: string | null;
  /** Names of users-permissions roles; `['Public']` for anonymous; none for tokens and administrators. */
  readonly groups: readonly string[];
  /** True when a users-permissions role bears this user's username: lists then mean the role, never the user. */
  readonly nameIsGroup?: boolean;
  readonly isManager: boolean;
  /** Whether Strapi's permissions of a role or token grant the action. */
  can(action: AppsAction): boolean;
  /** What `context.api.user` shows: no secrets; null for anonymous. */
  readonly profile: Items | null;
  /** What Strapi's `auth` service returned; used for permission checks on host content only. */
  readonly auth: StrapiAuth;
}

/** The `state.auth` of Strapi. Opaque outside auth/ and the host content functions. */
export interface StrapiAuth {
  strategy: { name: string };
  credentials: unknown;
  ability?: unknown;
}

export type AclRight = 'reader' | 'author' | 'editor' | 'submitter' | 'owner';

/** `acl` of settings.yaml, checked and normalised; a missing list is empty. */
export interface Acl {
  rights: Record<AclRight, readonly string[]>;
  roles: Readonly<Record<string, readonly string[]>>;
}

/** What a list of an `acl` may do with records by the JSON interface (docs/reference/rights.md#the-json-interface). */
export type JsonUse = 'none' | 'read' | 'write';
export type JsonUses = Readonly<Record<AclRight, JsonUse>>;

/** Rights of one requester on one app's records over HTTP (docs/reference/rights.md#records-acl-in-settingsyaml). */
export interface Rights {
  readonly manager: boolean;
  /** May see every record. */
  readonly viewAll: boolean;
  /** The creator whose records the requester sees, where these are their own and no others; else null. */
  readonly viewOwn: string | null;
  /** May see a record made by `creator` (an identity; null or '' without a creator). The holders of signed links are apart (apps/run/own-link.ts). */
  view(creator: string | null): boolean;
  readonly create: boolean;
  edit(creator: string | null): boolean;
  delete(creator: string | null): boolean;
  /** May delete every record: editors and managers (operation 9). */
  readonly deleteAll: boolean;
  /** The acl rights that name the requester. */
  readonly granted: readonly AclRight[];
  /** The app's own roles that name the requester. */
  readonly roles: readonly string[];
}

export type { Creator } from './credentials/users';
export type { FlashMessage } from './sessions/cookies';
