/**
 * Types of the `context` that every logic function gets as its only argument. For an editor to complete it, in a logic
 * file:
 *
 *   /** @param {import('strapi-plugin-apps/context').Context} context *\/
 *   export function total(context) { … }
 *
 * Every call of the host looks synchronous: no `await` is needed, and `await` does no harm.
 */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// biome-ignore lint/suspicious/noExplicitAny: only the theme's developer knows what is stored under a name.
type Value = any;

/** A record's items, or any other JSON object. */
export interface Items {
  [name: string]: Json;
}

export interface Context {
  /** The current app. */
  readonly app: App;
  /** The current block, or null. */
  readonly block: BlockReference | null;
  /** The current record, or null. */
  readonly record: AppRecord | null;
  readonly request: Request;
  /** The page's request when the block is embedded in it, else null. */
  readonly parent_request: ParentRequest | null;
  /** The site. */
  readonly portal: Portal;
  /** The current content item, or the portal at the site's root. */
  readonly content: Content;
  /** The host's content, with the rights of whoever makes the request. */
  readonly api: Api;
  /** Parameters of a call from code or from a rule. */
  readonly params: Items;
  /** Another app of the site, or null. */
  get_app(id: string | { id: string }): App | null;
  /** Rapido's name of `get_app`. */
  rapido(id: string | { app_id: string }): App | null;
  /** The text with `& < > " '` escaped for HTML; `''` for null and undefined. */
  escape(text: unknown): string;
  /** What `on_display` and the others set; the layout sees it. */
  [name: string]: unknown;
}

export interface App {
  readonly id: string;
  readonly url: string;
  readonly settings: Items;
  readonly blocks: readonly BlockReference[];
  /** Names of the declared indexes. */
  readonly indexes: readonly string[];
  readonly acl: Acl;
  absolute_url(): string;
  /** With `debug: true`: to the server's log and to the console of this visitor's browser. */
  log(...messages: unknown[]): void;
  /** What this block has logged so far. */
  readonly messages: string[];
  /** Builds the indexes again when the request is stored, and gives their names; for managers. */
  refresh(options?: { rebuild?: boolean } | boolean): string[];
  /** A new record; its id is given or made. Throws ConflictError when the id is taken. */
  create_record(id?: string | number | { id: string }): AppRecord;
  get_record(id: string | number | { id: string }): AppRecord | null;
  /** False if there was none. The `on_delete` of the record's block runs before, unless the option says false. */
  delete_record(
    record: string | number | AppRecord | ({ id: string } & DeleteOptions) | ({ record: AppRecord } & DeleteOptions),
    options?: DeleteOptions,
  ): boolean;
  /**
   * All records in order of creation. With `limit` (at most 1,000) or `cursor` one page of them: `cursor` of the list asks
   * for the next page and is null at the end.
   */
  records(options?: { limit?: number; cursor?: string }): AppRecord[] & { cursor: string | null };
  count(query?: string, options?: { names?: Items }): number;
  search(query: string, options?: SearchOptions): AppRecord[];
  search(query: string, sort_index?: string, reverse?: boolean): AppRecord[];
  search(options: SearchOptions & { query?: string }): AppRecord[];
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
}

export interface Acl {
  /** The username; null for anonymous. */
  current_user(): string | null;
  current_user_groups(): string[];
  has_access_right(right: 'reader' | 'author' | 'editor' | 'submitter'): boolean;
  /** Whether a role of settings.yaml names the user. */
  has_role(role: string): boolean;
  /** Names of all roles of settings.yaml. */
  roles(): string[];
  is_manager(): boolean;
}

export interface BlockReference {
  readonly id: string;
  readonly url: string;
  /** What the block declares, each a mapping with `type`. */
  readonly elements: { [name: string]: Items };
  absolute_url(): string;
  /** The block as HTML, to read or (`edit`) to fill in; with a record, that record. */
  display(options?: { record?: AppRecord | string; edit?: boolean }): string;
  display(record: AppRecord | string | null, edit?: boolean): string;
}

/**
 * A record. Its items are properties: `record.total = 1`, `'total' in record`, `delete record.total`; what is set is
 * saved at the end, also without `save()`. An item that is named like a method is reached by `get` and `set`.
 */
export interface AppRecord {
  readonly id: string;
  /** Rapido's name of `id`, unless there is an item of this name. */
  readonly uid: string;
  readonly url: string;
  absolute_url(): string;
  get(name: string, otherwise?: unknown): Value;
  set(name: string, value: unknown): this;
  set(items: Record<string, unknown>): this;
  /** All items with the id, as a new object. */
  items(): Items;
  /** Saves now, and returns the record. */
  save(items?: Record<string, unknown>): this;
  /**
   * Saves now, as the block's: its computed elements and `on_save` run; returns what `on_save` returned. Instead of items,
   * `context.request`: the fields that its form has sent.
   */
  save(items: Record<string, unknown> | Request | null | undefined, options: SaveOptions): Value;
  /** Adds to a number, beginning at 0, without losing what other requests add; returns the sum. */
  inc(name: string, by?: number): number;
  reindex(): void;
  /** The block that the record is displayed with. */
  set_block(id: string | { block_id: string }): this;
  /** The record's block as HTML. */
  display(options?: { edit?: boolean } | boolean): string;
  [item: string]: Value;
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
  readonly response: {
    /** Null: not changed. */
    status: number | null;
    /** Only names of an allow-list. */
    set_header(name: string, value: string): void;
    /** Rapido's names of the same. */
    setHeader(name: string, value: string): void;
    setStatus(status: number): void;
    /** Inside the site, or to a configured host. */
    redirect(url: string): void;
  };
}

export interface Portal {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  /** Id of the active theme. */
  readonly theme: string;
  /** Of localized content: the configured one, else Strapi's default. */
  readonly locale: string | null;
  absolute_url(): string;
  /** The content item at a path of the site, if it may be read. */
  get(path: string | { path: string }): ContentItem | null;
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
export interface Content {
  readonly type: string;
  readonly id: string;
  readonly documentId: string | null;
  readonly url: string;
  readonly path: string;
  title: string;
  absolute_url(): string;
  absolute_url_path(): string;
  /** Changes fields; the properties show the new values. */
  update(data: Items): this;
  [field: string]: Value;
}

export interface Api {
  documents(uid: string): Documents;
  /** Who makes the request, without secrets; null for anonymous. */
  readonly user: (Items & User) | null;
  readonly content: ContentApi;
  readonly portal: { get(): Portal };
}

/** Content as apps made for Rapido use it: Strapi's documents by other names. */
export interface ContentApi {
  get(path: string | { path: string }): ContentItem | null;
  /** Published content of one type (its uid, singular or plural name); other names are fields and their values. */
  find(query: {
    portal_type: string;
    sort_on?: string;
    sort_order?: string;
    sort_limit?: number;
    [field: string]: unknown;
  }): ContentItem[];
  /** A draft, where the type has drafts; `id` is its name in its address. */
  create(item: { type: string; id?: string; [field: string]: unknown }): ContentItem;
  transition(obj: ContentItem | Content, transition: 'publish' | 'unpublish'): void;
  transition(change: { obj: ContentItem | Content; transition?: string; to_state?: string }): void;
}

/** Names that Rapido's apps know; the user's own fields are properties. */
export interface User {
  is_anonymous(): boolean;
  get_current(): Items & User;
  getProperty(name: string, otherwise?: unknown): Value;
  getUserName(): string | null;
  getId(): string | null;
}

/** Strapi's document service; parameters as there. */
export interface Documents {
  findMany(params?: object): Value[];
  findFirst(params?: object): Value;
  findOne(params: object): Value;
  count(params?: object): number;
  create(params: object): Value;
  update(params: object): Value;
  delete(params: object): Value;
  publish(params: object): Value;
  unpublish(params: object): Value;
  discardDraft(params: object): Value;
}
