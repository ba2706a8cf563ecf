import type { Items, Json } from '../../../shared/json';
import type { Acl, JsonUses } from '../auth/types';
import type { AppsError, SourcePosition } from '../common/errors';
import type { IndexDeclarations, IndexType } from '../indexes/types';
import type { LayoutSource } from '../layouts/types';
import type { AppFolder } from '../sites/types';
import type { ElementType } from './elements/types';

/** What the value of another element must be: one of these, or none of them. */
export interface ElementCondition {
  values: readonly (string | number | boolean | null)[];
  not: boolean;
  /** The other element is a number: `1.0` is 1. */
  isNumber: boolean;
  /** The other element is a box: `on` and `TRUE` are true. */
  isTruth?: boolean;
  /** A condition on the same element that must hold too: of the group or page. */
  also?: ElementCondition;
}

export type ElementMode = 'COMPUTED_ON_SAVE' | 'COMPUTED_ON_CREATION';

export interface ElementOption {
  value: string | number | boolean;
  label: string;
  /** How many records of the block may have chosen it. */
  limit?: number;
  /** Whether it cannot be chosen now, as its label says. */
  isFull?: boolean;
}

/** How the requests of a webhook that calls an element are signed. */
export interface Verify {
  /** The name of a secret of the configuration. */
  secret: string;
  /** The header, in lower case, with the HMAC-SHA256 of the body in hexadecimal digits; null: as Standard Webhooks says. */
  hex: { header: string; prefix: string } | null;
}

/** Settings of one element type, by the names that the type gives them; only the type knows what they are. */
export type OwnSettings = Readonly<Record<string, unknown>>;

/**
 * An element's declaration, checked: what elements of all types may have, and the settings of its own type. Keys that its type does
 * not take are a DefinitionError (docs/reference/definitions.md#keys-of-an-element).
 */
export interface ElementDefinition<Own = OwnSettings> {
  name: string;
  /** Name of a row in the element type table. */
  type: string;
  /** That row. */
  kind: ElementType;
  label?: string;
  help?: string;
  required?: boolean;
  default?: Json;
  /** Shown, but never read from a form: the default is stored with a new record. */
  readonly?: boolean;
  /** Whether no two records of the block may have the same value. */
  unique?: boolean;
  /** What of a person the value is: the e-mail address by which everything of a person is found. */
  person?: 'email';
  /** Class names of the outermost tag. */
  class?: string;
  /** Values of other elements on which it is shown. */
  showIf?: Readonly<Record<string, ElementCondition>>;
  indexType?: IndexType;
  mode?: ElementMode;
  /** The element is called by webhooks alone, whose signature is checked. */
  verify?: Verify;
  /** Of its type alone. */
  settings: Own;
  /** Where the element is declared. */
  position: SourcePosition;
}

/** A mail that is sent when a form of the block is saved; texts may hold `{…}`. */
export interface Notify {
  to: string[];
  subject: string;
  /** The block whose HTML is the mail's; null: a list of the fields. */
  block: string | null;
  replyTo: string;
  /** Also when a record is changed. */
  onUpdate: boolean;
  position: SourcePosition;
}

/** What happens with ticks that came while no server process ran. */
export type Missed = 'skip' | 'once' | 'all';

/** When a function of a block is called by itself (docs/reference/definitions.md#schedules). */
export interface Schedule {
  /** Name of the function. */
  run: string;
  cron: string;
  /** IANA time zone; null: the site's. */
  timeZone: string | null;
  missed: Missed;
  position: SourcePosition;
}

/** A moment by the clock of the site. */
export interface LocalTime {
  /** As it was written, for `readableMoment`. */
  shown: string;
  /** Milliseconds since 1970 as if the site's clock were UTC. */
  clock: number;
}

/** A mail to the address in an element of a new record (docs/reference/definitions.md#receipts). */
export interface Receipt {
  /** Name of the element. */
  to: string;
  /** With `{…}`; null: the service's own. */
  subject: string | null;
  /** The block that the mail shows, by its id; null: a list of the entries. */
  block: string | null;
  /** Whether the record waits until a link in the mail was opened and its button pressed. */
  confirm: boolean;
  position: SourcePosition;
}

/** When records of a block may be made, and how many (docs/reference/definitions.md#when-and-how-many). */
export interface Places {
  opens: LocalTime | null;
  /** From then on no record is made. */
  closes: LocalTime | null;
  /** Records of the block; null: any number. */
  limit: number | null;
  /** Records of one requester. */
  perRequester: number | null;
  /** Whether a record over the limit waits for a place. */
  waitingList: boolean;
  /** Texts in place of the form; null: the service's own. */
  closed: string | null;
  full: string | null;
  /** Names of the elements with `unique`, and of those with options that have a limit. */
  unique: readonly string[];
  limited: readonly string[];
}

/** A state that records of a block may be in. */
export interface DeclaredState {
  name: string;
  /** As people read it; null: its name. */
  label: string | null;
  /** Names of the states that follow. */
  to: readonly string[];
  /** Users and groups who may change it; null: those who may change the record. */
  by: readonly string[] | null;
  /** Sent when a record comes into it. */
  notify: Notify | null;
  position: SourcePosition;
}

/** The states of a block's records (docs/reference/definitions.md#states). */
export interface States {
  /** The state of a new record: the first. */
  initial: string;
  all: ReadonlyMap<string, DeclaredState>;
}

/** What the holder of a link to a record may do with it, besides seeing it. */
export interface SelfService {
  edit: boolean;
  delete: boolean;
  /** Milliseconds after the record was made; null: until the block closes. */
  until: number | null;
}

/** A length of time, such as 180 days. */
export interface TimeSpan {
  count: number;
  unit: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';
}

/** How long records of a block are kept, and what goes then (docs/reference/definitions.md#privacy). */
export interface Privacy {
  /** Since the record was made; null: for ever. */
  keep: TimeSpan | null;
  /** Items that are removed in place of the record: those of `anonymize`, and those of persons; null: the record is deleted. */
  anonymize: readonly string[] | null;
}

/** A page of a long form. */
export interface FormPage {
  title: string;
  /** Names of its elements, in their order. */
  elements: readonly string[];
  /** Values of fields of earlier pages on which it is shown. */
  showIf?: Readonly<Record<string, ElementCondition>>;
}

export interface Definition {
  /** Of the block's pages, with elements in braces; null: the block's id. */
  title: string | null;
  target: 'ajax' | null;
  /** `withTheme`: of the view alone; null where the view does not say. */
  view: { id: string; withTheme: boolean | null } | null;
  /** Whether pages of the block are shown in the theme's layout; null: as the app's settings say. */
  withTheme: boolean | null;
  /** Null: all may view it. */
  viewPermission: readonly string[] | null;
  /** When an embedded block reloads: after this number of seconds, or when a record that it has read changes. */
  refresh: number | 'on-change' | null;
  /** Seconds for which anonymous visitors share a rendering; false: each gets a new one; null: a kept one that is exact. */
  cache: number | false | null;
  notify: Notify | null;
  /** Null: any number of records may be made, at any time. */
  places: Places | null;
  /** Null: who makes a record gets no mail. */
  receipt: Receipt | null;
  /** Null: its records have no states. */
  states: States | null;
  /** Null: a record has no link for who has made it. */
  selfService: SelfService | null;
  /** Whether its form can be stored unfinished, and continued later. */
  drafts: boolean;
  privacy: Privacy;
  /** Those that differ from each other. */
  schedules: readonly Schedule[];
  /** Pages of the block's form; null: it has one. */
  pages: readonly FormPage[] | null;
  elements: ReadonlyMap<string, ElementDefinition>;
  /** The built-in actions, with their texts where the file declares none of that name. */
  builtIn: ReadonlyMap<string, ElementDefinition>;
  /** The file's content for `GET <app>/blocks/<block_id>`: every element is a mapping with `type`. */
  source: Items;
}

/** A block of an app, at one revision of the app's folder. */
export interface Block {
  id: string;
  layout: LayoutSource | null;
  logic: { path: string; language: 'javascript' | 'typescript' | 'python' } | null;
  definition: Definition;
  /** The DefinitionError of this block; thrown when the block is used. */
  error: AppsError | null;
}

/** What happens to a record. */
export type RecordEvent = 'create' | 'update' | 'delete';

/** Tells another server what has happened to records of an app. */
export interface Webhook {
  url: string;
  events: ReadonlySet<RecordEvent>;
  /** Only records of this block; null: all. */
  block: string | null;
  /** Only records that match; null: all. */
  query: string | null;
  /** The function that makes the body; null: the usual one. */
  body: { block: string; name: string } | null;
  /** The name of the secret of the configuration that signs it; null: it is not signed. */
  secret: string | null;
  position: SourcePosition;
}

export interface MailSettings {
  /** Addresses, `*@<domain>`, or names of options in braces. */
  to: string[];
  /** To the requester's own account, too. */
  toRequester: boolean;
}

export interface Settings {
  debug: boolean;
  /** Pages are shown in the theme's layout, unless a definition says otherwise. */
  withTheme: boolean;
  acl: Acl | null;
  /** Free values for the app's own use, with those that an administrator has set. */
  options: Items;
  /** Visitors without a login get a cookie that tells them from each other. */
  visitor: boolean;
  /** Forms with which anonymous saves need a proof of work. */
  proofOfWork: boolean;
  /** Records belong to blocks and hold only what these declare (docs/reference/rights.md#strict-apps). */
  strict: boolean;
  /** Who may use the JSON interface. */
  json: JsonUses;
  /** To whom the app may send mail; null: to no one. */
  mail: MailSettings | null;
  /** Roles of users-permissions whose rights scheduled functions have. */
  scheduleAs: readonly string[];
  /** What is sent to other servers when records change, by name. */
  webhooks: ReadonlyMap<string, Webhook>;
  /** Whether changes of records are kept, and for how many days. */
  history: boolean;
  historyDays: number;
  /** Milliseconds for which drafts of forms are kept. */
  keepDrafts: number;
  /** The parsed file as operation 1 shows it, `{}` if missing or empty. */
  source: Items;
}

/** An app at one revision: the checked content of its files. */
export interface App {
  folder: AppFolder;
  id: string;
  revision: string;
  settings: Settings;
  /** A broken settings.yaml: the app then has no acl and every use of it by a visitor is this DefinitionError. */
  error: AppsError | null;
  blocks: ReadonlyMap<string, Block>;
  /** From the definitions of all valid blocks; a second type for a name is a DefinitionError of the later block. */
  indexes: IndexDeclarations;
  /**
   * Whether records of a block wait until they are confirmed: others than editors do not see those that wait. So too where a
   * definition is broken, which may say that.
   */
  confirms: boolean;
}
