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
  roles(): string[];
  is_manager(): boolean;
}

export interface BlockReference {
  readonly id: string;
  readonly url: string;
  absolute_url(): string;
}

/**
 * A record. Its items are properties: `record.total = 1`, `'total' in record`, `delete record.total`; what is set is
 * saved at the end, also without `save()`. An item that is named like a method is reached by `get` and `set`.
 */
export interface AppRecord {
  readonly id: string;
  readonly url: string;
  absolute_url(): string;
  get(name: string, otherwise?: unknown): Value;
  set(name: string, value: unknown): this;
  set(items: Record<string, unknown>): this;
  /** All items with the id, as a new object. */
  items(): Items;
  /** Saves now; with a block, its computed elements and `on_save` run. */
  save(items?: Record<string, unknown>, options?: { block_id?: string }): this;
  /** Adds to a number, beginning at 0, without losing what other requests add; returns the sum. */
  inc(name: string, by?: number): number;
  reindex(): void;
  /** The block that the record is displayed with. */
  set_block(id: string | { block_id: string }): this;
  /** The record's block as HTML. */
  display(options?: { edit?: boolean } | boolean): string;
  [item: string]: Value;
}

export interface ParentRequest {
  readonly method: string;
  readonly url: string;
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
  readonly url: string;
  readonly path: string;
  absolute_url(): string;
  absolute_url_path(): string;
  readonly [field: string]: Value;
}

export interface Content extends ContentItem {
  /** Changes fields; the properties show the new values. */
  update(data: Items): this;
}

export interface Api {
  documents(uid: string): Documents;
  /** Who makes the request, without secrets; null for anonymous. */
  readonly user: Items | null;
  readonly content: { get(path: string | { path: string }): ContentItem | null };
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
