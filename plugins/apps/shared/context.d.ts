/**
 * Types of the `context` that every logic function gets as its only argument. For an editor to complete it, in a logic
 * file:
 *
 *   /** @type {import('strapi-plugin-apps/context').OnSave} *\/
 *   export function on_save({ app, record }) { … }
 *
 * or, in TypeScript, `export function on_save({ app, record }: RecordContext) { … }`. The types of functions tell where there
 * is a record (docs/reference/logic.md#types).
 *
 * Every call of the host looks synchronous: no `await` is needed, and `await` does no harm.
 */

import type {
  ApiCalls,
  AppCalls,
  AppRecordCalls,
  BlockReferenceCalls,
  ContentApiCalls,
  ContentCalls,
  ContextCalls,
  DocumentsCalls,
  JobsCalls,
  MailCalls,
  PortalCalls,
  ResponseCalls,
} from './context-calls';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// biome-ignore lint/suspicious/noExplicitAny: only the theme's developer knows what is stored under a name.
export type Value = any;

/** A record's items, or any other JSON object. */
export interface Items {
  [name: string]: Json;
}

export interface Context extends ContextCalls {
  /** The current app. */
  readonly app: App;
  /** The block whose function runs. */
  readonly block: BlockReference;
  /** The current record; null where there is none, as in a fresh form. See `RecordContext`. */
  readonly record: AppRecord | null;
  readonly request: Request;
  /** The page's request when the block is embedded in it, else null. */
  readonly parent_request: ParentRequest | null;
  /** The site. */
  readonly portal: Portal;
  /** The time in the site's zone, with its difference from UTC: `2026-03-01T09:30:15+01:00`. Its first ten characters are today's date. */
  readonly now: string;
  /** The current content item, or the portal at the site's root. */
  readonly content: Content;
  readonly mail: Mail;
  /** Calls of functions that are made later. */
  readonly jobs: Jobs;
  /** The visitor, with or without a login; null without `visitor: true` in settings.yaml. */
  readonly visitor: { readonly id: string | null } | null;
  /** The host's content, with the rights of the requester. */
  readonly api: Api;
  /** Parameters of a call from code, from a rule, or of a job. */
  readonly params: Items;
  /** The text with `& < > " '` escaped for HTML; `''` for null and undefined. */
  escape(text: unknown): string;
  /** Properties that `on_display` and the others set; the layout sees them. */
  [name: string]: unknown;
}

/** `context` where there is a record: while one is saved or deleted. */
export interface RecordContext extends Context {
  readonly record: AppRecord;
}

/** The address to redirect to; nothing for no redirect. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is declared as `void`.
export type Redirect = string | null | undefined | void;

/** `on_display`: runs before the block's elements and actions, also before its form is saved. */
export type OnDisplay = (context: Context) => Redirect | Promise<Redirect>;
/** `validate`: checks a form before it is saved; refuses it by `context.invalid`. */
export type Validate = (context: Context) => void | Promise<void>;
/** `on_save`: runs after a record of the block was saved. */
export type OnSave = (context: RecordContext) => Value;
/** `on_delete`: runs before a record of the block is deleted. */
export type OnDelete = (context: RecordContext) => Redirect | Promise<Redirect>;
/** `record_id`: the id of a record that was made without one. */
export type RecordId = (context: RecordContext) => string | number | null | Promise<string | number | null>;
/** An `ACTION`, when its button is pressed. */
export type Action = (context: Context) => Redirect | Promise<Redirect>;
/** A `BASIC` element, or the default value of an input. */
export type Element = (context: Context) => Value;
/** A `BASIC` element of mode `COMPUTED_ON_SAVE` or `COMPUTED_ON_CREATION`. */
export type ComputedElement = (context: RecordContext) => Value;
/** `<element>_options`: what a `SELECT`, `RADIO` or `CHECKBOXES` offers. */
export type Options = (context: Context) => Option[] | Promise<Option[]>;

export type Option = string | number | boolean | { value: string | number | boolean; label?: string };

export interface App extends AppCalls {
  readonly id: string;
  readonly url: string;
  readonly settings: Items;
  /** `options` of settings.yaml, with what an administrator has set for this site. */
  readonly options: Items;
  readonly blocks: readonly BlockReference[];
  /** Names of the declared indexes. */
  readonly indexes: readonly string[];
  readonly acl: Acl;
  absolute_url(): string;
  /** Log entries of this block so far. */
  readonly messages: string[];
  get_block(id: string | { block_id: string }): BlockReference | null;
}

export interface DeleteOptions {
  on_delete?: boolean;
  /** Rapido's name for the same. */
  ondelete?: boolean;
}

export interface SearchOptions {
  sort_index?: string;
  reverse?: boolean;
  /** At most 10,000. */
  limit?: number;
  offset?: number;
  /** Values of the names that the query uses. */
  names?: Items;
  /** Only records that the requester has created; none for anonymous. */
  own?: boolean;
  /** Only records of the block with this id. */
  block?: string;
}

export interface Acl {
  /** The username; null for anonymous. */
  current_user(): string | null;
  current_user_groups(): string[];
  has_access_right(right: 'reader' | 'author' | 'editor' | 'submitter' | 'owner'): boolean;
  /** Whether a role of settings.yaml names the user. */
  has_role(role: string): boolean;
  /** Names of all roles of settings.yaml. */
  roles(): string[];
  is_manager(): boolean;
}

export interface BlockReference extends BlockReferenceCalls {
  readonly id: string;
  readonly url: string;
  absolute_url(): string;
}

/**
 * A record. Its items are properties: `record.total = 1`, `'total' in record`, `delete record.total`; what is set is
 * saved at the end, also without `save()`. An item that is named like a method is reached by `get` and `set`.
 */
export interface AppRecord extends AppRecordCalls {
  readonly id: string;
  /** Rapido's name of `id`, unless there is an item of this name. */
  readonly uid: string;
  readonly url: string;
  absolute_url(): string;
  get(name: string, otherwise?: unknown): Value;
  /** All items with the id, as a new object. */
  items(): Items;
  /** The block that the record is displayed with. */
  set_block(id: string | { block_id: string }): this;
  [item: string]: Value;
}

/** What a block says of its places: whether it takes records now, and how many more. */
export interface Places {
  /** Records that the block may have; null: any number. */
  readonly limit: number | null;
  readonly taken: number;
  readonly left: number | null;
  /** Records on its waiting list. */
  readonly waiting: number;
  readonly state: 'open' | 'full' | 'closed' | 'not_open';
}

/** Who has created a record. */
export interface Creator {
  /** A user's documentId; `admin:…` or `token:…` of an administrator or an API token. */
  readonly id: string;
  /** A user's name, an administrator's e-mail address, a token's name. */
  readonly username: string;
}

export interface SaveOptions {
  /** Without one, the block that the record has. */
  block_id?: string;
  block?: BlockReference;
  /** Elements of the mode `COMPUTED_ON_CREATION` are computed too, and `record_id` names a record that is new. */
  creation?: boolean;
}

export interface ParentRequest {
  readonly method: string;
  readonly url: string;
  /** The address without its query. */
  readonly URL: string;
  readonly path: string;
  /** Repeated names are lists. */
  readonly query: Items;
  readonly form: Items;
  /** The parsed JSON body, or null. */
  readonly body: Json;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** A field of the form, of the body, or of the query, in this order. */
  get(name: string, otherwise?: unknown): Value;
  has(name: string): boolean;
}

export interface Request extends ParentRequest {
  readonly response: Response;
}

export interface Response extends ResponseCalls {
  /** Null: not changed. */
  status: number | null;
}

export interface Portal extends PortalCalls {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  /** Id of the active theme. */
  readonly theme: string;
  /** Of localized content: the configured one, else Strapi's default. */
  readonly locale: string | null;
  /** Name of the site's time zone, such as `Europe/Paris`; the server's where the site has none. */
  readonly time_zone: string;
  absolute_url(): string;
  /**
   * When a day begins in the site's zone, as `toISOString` writes it. Without a day: today. Of a time with a zone: the day on which it is
   * there.
   */
  day_begin(day?: string | Date | null, days?: number): string;
  day_begin(options: { day?: string | Date | null; days?: number }): string;
}

/** A content item; its fields are properties. */
export interface ContentItem {
  /** Content type uid, or `'portal'`. */
  readonly type: string;
  readonly id: string;
  readonly documentId: string | null;
  readonly title: string;
  /** On the first site in the item's locale; null if no site has that locale. */
  readonly url: string | null;
  /** Below that site. */
  readonly path: string;
  /** Null where the type is not localized. */
  readonly locale: string | null;
  absolute_url(): string | null;
  absolute_url_path(): string;
  /** Plone's names of the same, and of the item itself. */
  getURL(): string;
  getPath(): string;
  getObject(): this;
  readonly [field: string]: Value;
}

/** The current content item. `content.title = '…'` changes a field; it is stored at the end of the request. */
export interface Content extends ContentCalls {
  readonly type: string;
  readonly id: string;
  readonly documentId: string | null;
  readonly url: string;
  readonly path: string;
  title: string;
  absolute_url(): string;
  absolute_url_path(): string;
  [field: string]: Value;
}

/** A mail; `text` or `html` is needed. */
export interface MailInput {
  /** Bare addresses that `mail` in settings.yaml allows. */
  to: string | string[];
  subject: string;
  text?: string | null;
  html?: string | null;
  reply_to?: string | null;
}

export interface Mail extends MailCalls {}

/** How a web service is called. */
export interface FetchOptions {
  /** `GET` without it. */
  method?: string;
  headers?: Record<string, string>;
  /** An object or a list is sent as JSON. */
  body?: string | object | null;
  /** Milliseconds, at most the server's `fetch.timeout`. */
  timeout?: number;
}

/** What a web service has answered. */
export interface FetchAnswer {
  readonly status: number;
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The text as JSON; null where it is none. */
  readonly json: Value;
}

/** When a job runs: at once without `delay` and `at`. */
export interface JobOptions {
  /** Seconds from now. */
  delay?: number | null;
  /** A moment with its offset from UTC: `2030-01-31T06:00:00Z`. */
  at?: string | null;
  /** A second job with the key of one that waits or runs is that one. */
  key?: string | null;
}

export interface Jobs extends JobsCalls {}

export interface Api extends ApiCalls {
  /** Who makes the request, without secrets; null for anonymous. */
  readonly user: (Items & User) | null;
  readonly content: ContentApi;
  readonly portal: { get(): Portal };
}

/** Content as apps made for Rapido use it: Strapi's documents by other names. */
export type ContentApi = ContentApiCalls;

/** Names that Rapido's apps know; the user's own fields are properties. */
export interface User {
  is_anonymous(): boolean;
  get_current(): Items & User;
  getProperty(name: string, otherwise?: unknown): Value;
  getUserName(): string | null;
  getId(): string | null;
}

/** Strapi's document service; parameters as there. */
export type Documents = DocumentsCalls;
