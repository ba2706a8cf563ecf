/**
 * The methods of `context` that ask the server, by the interfaces of `context.d.ts` that have them. Made from the table of
 * host functions: `npx vitest run plugins/apps/server/src/logic/host-functions -u`.
 */
import type {
  App,
  AppRecord,
  Content,
  ContentItem,
  Creator,
  DeleteOptions,
  Documents,
  FetchAnswer,
  FetchOptions,
  Items,
  JobOptions,
  MailInput,
  Places,
  Request,
  SaveOptions,
  SearchOptions,
  Value,
} from './context';

export interface AppCalls {
  /** Reads a record; null if there is none. */
  get_record(id: string | number | { id: string }): AppRecord | null;
  /**
   * Makes a record, with the given id or one of its own.
   * A taken id gets `-1`, `-2`, … at its end.
   */
  create_record(id?: string | number | { id: string }): AppRecord;
  /** Deletes a record after its block's on_delete, unless on_delete is false. False if there was none. */
  delete_record(
    record: string | number | AppRecord | ({ id: string } & DeleteOptions) | ({ record: AppRecord } & DeleteOptions),
    options?: DeleteOptions,
  ): boolean;
  /**
   * Reads the targets of a REFERENCE that the requester may see: their fields, with id and url.
   * Takes the items of many records at once: up to 200 ids, in lists or not; null counts for none.
   */
  references(block_id: string, element: string, ids: unknown): (Items & { id: string; url: string | null })[];
  /**
   * Builds the indexes of the app again when the request is stored; for managers.
   * Returns the names of the indexes.
   */
  refresh(options?: { rebuild?: boolean } | boolean): string[];
  /**
   * Reads a page of records in order of creation.
   * Without `limit` and `cursor` all records. `limit`: at most 1,000; `cursor` of the list asks for the next page and is null at the end. `own`: only those that the requester has created.
   */
  records(options?: { limit?: number; cursor?: string; own?: boolean }): AppRecord[] & { cursor: string | null };
  /**
   * Counts the records that match a query, or all.
   * `own`: only those that the requester has created; `block`: only those of the block with this id.
   */
  count(query?: string | null, options?: { names?: Items; own?: boolean; block?: string }): number;
  /**
   * Searches records.
   * `own`: only those that the requester has created; none for anonymous. `block`: only those of the block with this id.
   */
  search(query: string, options?: SearchOptions): AppRecord[];
  search(query: string, sort_index?: string, reverse?: boolean): AppRecord[];
  search(options: SearchOptions & { query?: string }): AppRecord[];
  /**
   * Writes a log entry.
   * With `debug: true`: to the server's log and to the console of this visitor's browser. In JavaScript also `console`, whose levels are kept.
   */
  log(...messages: unknown[]): void;
}

export interface AppRecordCalls {
  /**
   * Sets, removes or adds to items of a record.
   * `inc` begins at 0, loses nothing that other requests add, and returns the sum.
   */
  set(name: string, value: unknown): this;
  set(items: Record<string, unknown>): this;
  inc(name: string, by?: number): number;
  /**
   * Saves a record; with a block, its computed elements and on_save run.
   * Returns the record, or what `on_save` returned. `context.request` instead of items: the fields of its form.
   */
  save(items?: Record<string, unknown>): this;
  save(items: Record<string, unknown> | Request | null | undefined, options: SaveOptions): Value;
  /** Writes the index rows of a record again. */
  reindex(): void;
  /**
   * Tells who has created a record; null for anonymous and for an account that no longer exists.
   * An item of this name is reached by `get` and `set`.
   */
  readonly creator: Creator | null;
  /** Renders a record with its block, as HTML. */
  display(options?: { edit?: boolean } | boolean): string;
}

export interface BlockReferenceCalls {
  /** Reads the elements that a block declares, each with its type. */
  readonly elements: { [name: string]: Items };
  /**
   * Tells how many places a block has, and whether it takes records; null for a block without such rules.
   * What it says is part of what the request has read.
   */
  readonly places: Places | null;
  /**
   * Renders a block as HTML, with a record or without.
   * To read, or with `edit` to fill in.
   */
  display(options?: { record?: AppRecord | string; edit?: boolean }): string;
  display(record: AppRecord | string | null, edit?: boolean): string;
}

export interface ContextCalls {
  /** Opens another app; null if there is none. */
  get_app(id: string | { id: string }): App | null;
  /** Rapido's name of `get_app`. */
  rapido(id: string | { app_id: string }): App | null;
  /**
   * Shows the visitor a message once, in the page of this request or in the one that a redirect leads to.
   * A text of at most 300 characters; at most 5 in a request.
   */
  flash(message: string): void;
  /**
   * Refuses what was sent: nothing is saved, and the message stands beside the field (422).
   * In `validate`, actions, `on_save`, `on_delete` and `record_id`; the function goes on, for further messages. Without an element the message is about the whole form.
   */
  invalid(element: string | null, message: string): void;
  invalid(options: { element?: string | null; message: string }): void;
  /**
   * Calls a web service that the configuration of the server allows.
   * An object or a list as `body` is sent as JSON. `timeout` in milliseconds. Throws ForbiddenError for other hosts, BadGatewayError and GatewayTimeoutError; any status is an answer. `{{secret:<name>}}` in a header or the body is put in by the server.
   */
  fetch(url: string | URL, options?: FetchOptions): FetchAnswer;
}

export interface PortalCalls {
  /**
   * Reads the content item at a path of the site.
   * Null if there is none that the requester may read.
   */
  get(path: string | { path: string }): ContentItem | null;
}

export interface ContentApiCalls {
  /**
   * Reads the content item at a path of the site.
   * Null if there is none that the requester may read.
   */
  get(path: string | { path: string }): ContentItem | null;
  /**
   * Finds published content of one type, with the permissions of the requester.
   * The type by its uid, singular or plural name; other names are fields and their values.
   */
  find(query: {
    portal_type: string;
    sort_on?: string;
    sort_order?: string;
    sort_limit?: number;
    [field: string]: unknown;
  }): ContentItem[];
  /**
   * Makes content, as a draft where its type has drafts.
   * `id` is its name in its address.
   */
  create(item: { type: string; id?: string; [field: string]: unknown }): ContentItem;
  /** Publishes content, or unpublishes it. */
  transition(obj: ContentItem | Content, transition: 'publish' | 'unpublish'): void;
  transition(change: { obj: ContentItem | Content; transition?: string; to_state?: string }): void;
}

export interface ContentCalls {
  /**
   * Changes fields of the current content item.
   * The properties show the new values.
   */
  update(data: Items): this;
}

export interface ApiCalls {
  /** Calls a method of Strapi's documents with the requester's permissions. */
  documents(uid: string): Documents;
}

export interface DocumentsCalls {
  /** Calls a method of Strapi's documents with the requester's permissions. */
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

export interface ResponseCalls {
  /**
   * Changes the status, a header or the redirect of the response.
   * Headers: only names of an allow-list. Redirects: inside the site, or to a configured host.
   */
  set_header(name: string, value: string): void;
  /** Rapido's names of the same. */
  setHeader(name: string, value: string): void;
  setStatus(status: number): void;
  redirect(url: string): void;
}

export interface MailCalls {
  /**
   * Queues a mail, which is sent once the request is stored.
   * `to`: an address or a list, each allowed by `mail` in settings.yaml. Throws RateLimitError when the app has sent too many.
   */
  send(mail: MailInput): void;
}

export interface JobsCalls {
  /**
   * Has a function run later, once the request is stored; gives the id of the job.
   * `target`: `<block>/<function>` of the own app. `delay` in seconds, or `at` (ISO 8601). With `key`, a job that waits or runs is the same one.
   */
  add(target: string, params?: Items | null, options?: JobOptions): string;
  /**
   * Calls a web service once the request is stored, until it answers with 2xx; gives the id of the job.
   * As `context.fetch`; a host that may not be called is refused at once.
   */
  fetch(url: string | URL, options?: FetchOptions): string;
}
