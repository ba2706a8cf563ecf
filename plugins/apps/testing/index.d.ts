/**
 * What the tests of an app import from `strapi-plugin-apps/testing` (docs/reference/app-tests.md). It exists only while
 * `npx strapi-plugin-apps test` runs them.
 */

/// <reference types="node" />

export { strict as assert } from 'node:assert';
export { after, afterEach, before, beforeEach, describe, test } from 'node:test';

/** The app whose folder holds the test file, used by an anonymous visitor. */
export const app: TestedApp;

// biome-ignore lint/suspicious/noExplicitAny: only the author of the app knows what its logic returns and stores.
export type Value = any;

/** Items of a record, or any other JSON object. */
export interface Items {
  [name: string]: Value;
}

export interface TestedApp extends Visitor {
  /** The app's folder name. */
  readonly id: string;
  /** The address of the app, without a content item: `http://apps.test/site/@@apps/rating`. */
  readonly url: string;
  readonly jobs: Jobs;
}

/** The visitor of a browser of their own: cookies are kept during a test; a user logs in again after a change of the clock. */
export interface Visitor {
  /**
   * Another visitor. A user is made with the first use, and logs in by the site's login form.
   * The same user and groups give the same browser during a test.
   */
  as(who: Who): Visitor;
  /** Opens the page of a block; `page.html` is the block alone, without the theme around it. */
  render(block: string, at?: Place): Promise<Page>;
  /** Opens the page of a block, fills in its form, and presses a button: `_save` unless another one is named. */
  submit(block: string, fields?: Fields, options?: Place & Pressed): Promise<Page>;
  /** Opens the page of a record, or with `edit` its form; `page.html` is the block that shows it, without the theme. */
  record(id: string, options?: Place & { edit?: boolean }): Promise<Page>;
  /** Computes an element as a JSON client: `call('rate/likes')`. With a `body`, by POST. */
  call(element: string, options?: Place & { body?: Items }): Promise<Answer>;
  /** Opens any page of the site, all of it: a path below the site (`/articles/news`, `/@@glossary`), or a URL. */
  open(address: string): Promise<Page>;
  /** Sends a JSON request to an address below the app: `request('PUT', 'record/a', { total: 1 })`. */
  request(method: string, path: string, body?: unknown): Promise<Answer>;
  readonly records: Records;
  readonly content: ContentFixtures;
  readonly clock: Clock;
  readonly fetch: FetchFixtures;
}

/** `'anonymous'`, or a user: of the group (a role of users-permissions) that `groups` names, else of `Authenticated`. */
export type Who = 'anonymous' | User;

export interface User {
  user: string;
  /** Strapi gives a user one role, so at most one group. It is made if the host has none of this name. */
  groups?: readonly string[];
  /** Strapi actions that the group may do besides reading content: `api::article.article.update`. */
  permissions?: readonly string[];
}

/** Where a block is opened. */
export interface Place {
  /** The content item: one that `content.create` has made, or its path (`/articles/news`). */
  content?: string | { path: string | null };
  /** Query parameters. */
  query?: Readonly<Record<string, string | number | readonly string[]>>;
}

/** A file that is chosen in a form. */
export interface FormFile {
  readonly name: string;
  /** A text is sent as UTF-8. */
  readonly content: string | Uint8Array;
}

/**
 * Values by the fields' names: a text, a number, true or false for a box, a list for several boxes, a file or a list of them; null
 * for nothing.
 */
export interface Fields {
  readonly [name: string]: string | number | boolean | null | FormFile | readonly (string | number | FormFile)[];
}

export interface Pressed {
  /** An element of type ACTION, or `_save`, `_edit`, `_delete`; or the text on the button. */
  button?: string;
}

export interface Element {
  /** Tag name, in lower case. */
  readonly name: string;
  /** Text inside, with single spaces. */
  readonly text: string;
  /** HTML of the element. */
  readonly html: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** What a field holds: an input, textarea or select; null for any other element. */
  readonly value: string | null;
  /** The first element inside that the CSS selector matches, or null. */
  find(selector: string): Element | null;
  findAll(selector: string): Element[];
}

/** A page as the browser shows it, after redirects. */
export interface Page extends Element {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Address of the page that is shown. */
  readonly url: string;
  /** Path and query of the first redirect that led here; null without one. */
  readonly redirect: string | null;
  /** The messages of wrong fields, by the fields' names. */
  readonly errors: Readonly<Record<string, string>>;
  /** Fills in the form of this page and presses a button. */
  submit(fields?: Fields, options?: Pressed): Promise<Page>;
}

/** An answer to a JSON request. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; the text of one that is not JSON; null for an error. */
  readonly value: Value;
  /** Null for a success. */
  readonly error: { readonly name: string; readonly message: string; readonly details: Items } | null;
}

/** A stored record. */
export interface StoredRecord {
  readonly id: string;
  readonly items: Items;
  /** Address of its page. */
  readonly url: string;
}

/** The records of the app, without rights, logic and checks. */
export interface Records {
  /** Stores items as they are given. `creator`: whom the record belongs to, for the rights `author` and `owner`. */
  create(items: Items, options?: { id?: string; creator?: Who }): Promise<StoredRecord>;
  get(id: string): Promise<StoredRecord | null>;
  /** All records, or those that match a query (docs/reference/search.md). */
  search(query?: string, options?: SearchOptions): Promise<StoredRecord[]>;
  count(query?: string, names?: Items): Promise<number>;
  clear(): Promise<void>;
}

export interface SearchOptions {
  sort_index?: string;
  reverse?: boolean;
  limit?: number;
  offset?: number;
  /** Values of the names that the query uses. */
  names?: Items;
}

/** Entries of the host's content types. */
export interface ContentFixtures {
  /** Makes an entry and publishes it. An error names the content types of the host if there is no such type. */
  create(type: string, fields: Items, options?: { locale?: string; draft?: boolean }): Promise<ContentItem>;
}

/** An entry: its fields, and where the site shows it. */
export interface ContentItem extends Items {
  readonly documentId: string;
  /** Path below the site; null where the site shows no such entries. */
  readonly path: string | null;
}

/** A call that logic has made. Names of secrets are not replaced. */
export interface FetchCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** An object or a list is JSON. */
  readonly body: string | null;
}

/** What a web service answers. */
export interface FetchAnswer {
  /** 200 without it. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /** A text, or what is sent as JSON. */
  body?: Value;
}

/** Web services that logic calls: nothing is sent in tests. */
export interface FetchFixtures {
  /** Answers calls of an address, or of all that begin with what stands before a `*`, until the end of the test. The latest counts. */
  answer(url: string, answer: FetchAnswer | ((call: FetchCall) => FetchAnswer)): void;
  /** The calls of this test. */
  readonly calls: readonly FetchCall[];
}

/** What apps have still to do, or have done: calls of functions, rules, ticks of schedules, webhooks, calls out. */
export interface Jobs {
  /**
   * Does the jobs of all apps that are due at the time of the clock, and those that they add. Without it none runs. A job that
   * fails waits for its next try: `list('failed')` has it.
   * @returns the number of tries, without those of jobs that send mails
   */
  run(): Promise<number>;
  /** The jobs of this app, the earliest first; of one state, or of all. */
  list(state?: JobState): Promise<StoredJob[]>;
}

/** `failed`: waits for its next try; `dead`: is not tried again. */
export type JobState = 'waiting' | 'running' | 'failed' | 'dead' | 'done';

/** A stored job. */
export interface StoredJob {
  readonly id: string;
  readonly kind: 'function' | 'rule' | 'schedule' | 'webhook' | 'fetch' | 'mail';
  /** `<block>/<function>`, the name of a rule or webhook, a host. */
  readonly name: string;
  readonly state: JobState;
  /** Tries so far. */
  readonly attempts: number;
  /** When it runs, or was to run: ISO 8601. */
  readonly dueAt: string;
  /** What it was given: of a function its `block`, `function` and `params`. */
  readonly data: Items;
  /** Of its last try: the status of another server's answer, and why it failed. */
  readonly status: number | null;
  readonly error: string | null;
}

/** The time that logic, layouts and the server see. */
export interface Clock {
  /** Stops the clock at a time: anything that `new Date()` takes. Until the end of the test, or `reset`. */
  set(time: string | number | Date): void;
  /** The clock runs again, with the real time. */
  reset(): void;
}

/** An answer of status 500 or more: an app has failed. `render`, `submit`, `open`, `call` and `request` reject with it. */
export class AppFailure extends Error {
  readonly status: number;
  /** What the server's log says: position and message. */
  readonly reasons: readonly string[];
}
