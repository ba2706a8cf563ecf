import type { Items, Json } from '../../../../shared/json';
import type { KnownNames } from '../../auth';
import type { Creator, FlashMessage, Requester, Rights } from '../../auth/types';
import type { PluginFiles } from '../../common/assets';
import type { Logger, Masks } from '../../common/log';
import type { Awaitable } from '../../common/time/awaitable';
import type { AppsConfig } from '../../config.types';
import type { Files } from '../../files';
import type { Jobs, NewJob } from '../../jobs/types';
import type { Markdown, Markup } from '../../layouts';
import type { Layouts } from '../../layouts/types';
import type { Draft, Drafts, Links } from '../../links/types';
import type {
  LogEntry,
  LogicBudget,
  LogicRuntime,
  PreparedCall,
  ResponseChanges,
  SaveRequest,
} from '../../logic/types';
import type { Mailer, QueuedMail, Receipts } from '../../mail/types';
import type { Observations } from '../../metrics';
import type { Outbound } from '../../outbound/types';
import type { History } from '../../records';
import type { KeptAnswers, ReadMark, RecordStore, StoredRecord, UnitOfWork } from '../../records/types';
import type { RunLog } from '../../runs';
import type { Site, Sites } from '../../sites/types';
import type { Live, LiveReads } from '../live-topics';
import type { App, Block, Notify } from '../types';
import type { AttemptCalls } from './calls-out';
import type { Trace } from './diagnostics/trace';
import type { FileChanges } from './files';
import type { PlaceChanges } from './places/changes';
import type { Refusals } from './refusals';
import type { Visit } from './visit';

export type { Visit } from './visit';

/** Calls of `context.api.documents` with the requester's own permissions (docs/reference/logic.md#contextapi). */
export type DocumentCalls = (uid: string, method: string, params: Items, requester: Requester) => Promise<PreparedCall>;

/** Calls of logic that run the logic of a block; injected, because the modules that run blocks import this one. */
export interface Nested {
  /** HTML of a record, shown by its own block. */
  display(run: Run, record: StoredRecord, edit: boolean): Promise<string>;
  /** HTML of a block, with a record or without. */
  displayBlock(run: Run, blockId: string, record: StoredRecord | null, edit: boolean): Promise<string>;
  /** The record after a save, and what the block's `on_save` returned; `ran` is false where it has no block. */
  save(
    run: Run,
    record: StoredRecord,
    options: SaveRequest,
  ): Promise<{ record: StoredRecord; ran: boolean; returned: Json }>;
  /** Queues a mail about the record; one that cannot be made does not fail the request. */
  notify(run: Run, block: Block, record: StoredRecord, notify: Notify): Promise<void>;
  /** Queues what has waited for the confirmation of a record that its block's form has made, except the mail of its state. */
  sendWaited(run: Run, block: Block, record: StoredRecord, unconfirmed: Items): Promise<void>;
  /** Queues the receipt of a record that has moved up from its waiting list, in the same way. */
  notifyOfPlace(run: Run, block: Block, record: StoredRecord): Promise<void>;
  /** Deletes the record; the `on_delete` of its block runs unless it is running already. */
  delete(run: Run, record: StoredRecord): Promise<void>;
}

/** The services that runs use; one set for the life of the server. */
export interface AppServices {
  config: AppsConfig;
  sites: Sites;
  store: RecordStore;
  history: History;
  logic: LogicRuntime;
  layouts: Layouts;
  /** The HTML of a Markdown text. */
  markdown: Markdown;
  /** Begins the work on the HTML of one page of the site. */
  markup(): Markup;
  documents: DocumentCalls;
  /** Ids of the rules on events that have led to what a requester does. */
  rulesOf(requester: Requester): readonly number[];
  live: Live;
  ownFiles: PluginFiles;
  files: Files;
  nested: Nested;
  mailer: Mailer;
  receipts: Receipts;
  links: Links;
  drafts: Drafts;
  outbound: Outbound;
  jobs: Jobs;
  answers: KeptAnswers;
  runs: RunLog;
  metrics: Pick<Observations, 'run' | 'retry' | 'rendering'>;
  /** Whether e-mail addresses are masked in what is kept for developers. */
  masks: Masks;
  loadApp(site: Site, appId: string): Awaitable<App | null>;
  /** The accounts behind identities, by identity. */
  creators(identities: readonly string[]): Promise<ReadonlyMap<string, Creator>>;
  /** A content type with all that reading it may read: its components and relations, and theirs; null: all types. */
  relatedTypes(uid: string | null): readonly string[];
  /** Which of the names belong to no user and no role. */
  lookUpNames?(names: readonly string[]): Promise<KnownNames>;
  /** Explains mistakes in a theme's own files to all visitors. */
  development?: boolean;
  /** Error marks and error pages quote the line of the error for all visitors. */
  quotesSource?: boolean;
  logger: Logger;
}

/** A record that a request owns, because its address has the token of the record's link. */
export interface OwnLink {
  /** The app, the record by its id and `seq`, because a later record may have the same id, and its block. */
  app: string;
  record: string;
  seq: number;
  block: string;
  /** The absolute address with the token: of forms, never of a log. */
  address: string;
  linkId: string;
  /** Whether the holder of the link may change the record now, and delete it. */
  edit: boolean;
  delete: boolean;
  /** Until when, in milliseconds since 1970; null: for ever. */
  until: number | null;
}

/** The draft that a request continues, because its address has the draft's token. */
export interface OpenDraft {
  /** The app, and the block whose form it is. */
  app: string;
  block: string;
  draft: Draft;
  /** The absolute address with the token: of forms, never of a log. */
  address: string;
}

/** When a request began to read, for results that are kept. */
export interface RequestBegin {
  /** The same at each call; before it, the request has read nothing that changes. */
  mark(): Promise<ReadMark>;
  /** That moment, for live blocks. */
  since(): string;
}

/** Tells visitors without a login from each other (docs/reference/logic.md#contextvisitor). */
export interface VisitorMark {
  /** Null before the visitor has a cookie; a forged cookie counts as none. */
  id(): string | null;
  /** Sets the cookie if the visitor has none. */
  begin(): void;
}

/** Messages for the visitor, of this request and of the one that redirected here. */
export interface Flash {
  isTaken(): boolean;
  /** Whether there is nothing to show, or it was taken. */
  isEmpty(): boolean;
  add(messages: readonly FlashMessage[]): void;
  /** Their HTML, for one place of the page; '' from the second time on. */
  take(): Promise<string>;
  /** Keeps them for the page that a redirect leads to. */
  keep(): void;
}

export interface FormMarks {
  /** The mark of a block's form that is shown now. */
  shown(app: string, block: string): string;
  /** Milliseconds since then; null for a mark that is forged or of another form. */
  age(app: string, block: string, mark: string): number | null;
  /** JSON text of a task for a proof of work. */
  challenge(app: string): string;
  /** Why the posted form is refused before its fields are read: a message of the service. */
  problem?: 'no_proof';
}

/** One attempt at a request; a collision with another request ends it and starts a new one. */
export interface Run {
  readonly services: AppServices;
  readonly visit: Visit;
  readonly app: App;
  readonly rights: Rights;
  readonly unit: UnitOfWork;
  /** A moment (`Live.position`) before its first read. */
  readonly since: string;
  /** What it has read so far, as topics of live changes. */
  readonly reads: LiveReads;
  /** Records whose places are to be settled. */
  readonly places: PlaceChanges;
  /** Files that its records name. */
  readonly files: FileChanges;
  readonly budget: LogicBudget;
  readonly logs: LogEntry[];
  /** Failures shown as error marks, which do not fail the request; written to the server's log. */
  readonly failures: string[];
  /** Console entries about mistakes, for requesters who see details (`diagnostics/failures.ts`). */
  readonly notes: LogEntry[];
  /** Ids of the links that it has made, by their apps and records (`own-link.ts`); shared by all levels. */
  readonly links: Map<string, string>;
  /** Where it sends mails that have waited for a confirmation: the address of who has made the record, null of anonymous. */
  readonly makerAddress?: string | null;
  readonly response: ResponseChanges;
  /** How many blocks are being displayed, saved or deleted inside each other. */
  readonly depth: number;
  /** Records whose `on_delete` is running; shared by all levels. */
  readonly deleting: Set<string>;
  /** Records that are being saved; shared by all levels. */
  readonly saving: Set<string>;
  /** How many changes of the host's content were attempted. */
  readonly changes: { count: number };
  /** The jobs that its logic has added. */
  readonly jobs: NewJob[];
  /** Messages for the visitor; shared by all levels. */
  readonly flashes: FlashMessage[];
  /** Mails to send after the commit; shared by all levels. */
  readonly mails: QueuedMail[];
  /** Calls out; shared by all levels. */
  readonly calls: AttemptCalls;
  /** The error that ends this attempt even if logic catches it, such as a collision. */
  readonly fatal: { error?: unknown };
  /** What its logic does, for those who develop apps; shared by all levels. */
  readonly trace: Trace;
  /** What logic has refused with `context.invalid`; shared by all levels. */
  readonly refusals: Refusals;
}

/** The result of a request's work. */
export interface Ran<T> {
  value: T;
  /** Changes that logic has made to the response. */
  response: ResponseChanges;
  logs: LogEntry[];
  /** Its console entries, including pending ones of an earlier request. */
  console: LogEntry[];
  /** Its messages for the visitor. */
  flashes: FlashMessage[];
  /** The remaining budget for other logic of the same request; absent if no logic ran. */
  budget?: LogicBudget;
}
