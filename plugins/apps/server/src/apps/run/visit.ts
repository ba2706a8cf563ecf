import type { Items } from '../../../../shared/json';
import type { Requesters } from '../../auth';
import type { Requester } from '../../auth/types';
import { lazily } from '../../common/collections';
import type { AppsError } from '../../common/errors';
import type { RequestFiles } from '../../files';
import type { LogEntry, LogicBudget, RequestData } from '../../logic/types';
import type { Through } from '../../records';
import type { RunJob, RunRule } from '../../runs';
import { trimSlashes } from '../../sites';
import type { ContentItem, Site } from '../../sites/types';
import { type Inputs, originalOf } from './observed';
import type { Flash, FormMarks, OpenDraft, OwnLink, RequestBegin, VisitorMark } from './types';
import type { DryRun } from './visits';

/** What a visit comes from, and through what it changes records. */
export type Origin =
  /** A request over HTTP. */
  | { readonly kind: 'request'; readonly through: 'form' | 'json' | 'self_service' }
  /** A webhook whose signature was checked, and is right. */
  | { readonly kind: 'webhook'; readonly through: 'json' }
  /** Code of the host, the panel or the service calls a function, or changes records. */
  | { readonly kind: 'call'; readonly through: Through }
  /** A job calls a function: its own, or that of a rule. */
  | {
      readonly kind: 'job';
      readonly through: 'job' | 'rule';
      readonly job: RunJob;
      readonly rule: RunRule | undefined;
    };

/** Who has sent a request over HTTP. */
export interface VisitClient {
  readonly flash: Flash;
  /** Aborted when the client has left. */
  signal(): AbortSignal;
  /** A name that all requests of its sender have in common. */
  sender(): string;
  /** A keyed digest of the network that sends the request. */
  network(): string;
}

/** CSRF tokens for the forms of an answer. */
export interface FormTokens {
  issue(): string;
  /** Whether one was issued: the answer is this visitor's alone. */
  isIssued(): boolean;
}

/** What a rendering that is shared or kept notes of what it shows. */
export interface Observer {
  /** What is looked at; absent where the rendering is shared whatever that is. */
  readonly inputs: Inputs | undefined;
  /** Called when an address is shown that holds for a time only: such a rendering is not kept. */
  onSigned(): void;
  /** Called when something is shown that changes at a time, in milliseconds since 1970. */
  onTime(until: number): void;
}

/** What stands in a rendering for what belongs to one visitor. */
export interface Placeholders {
  readonly tokens: FormTokens;
  readonly forms: FormMarks;
  readonly liveSince: string;
  readonly shownQuery: string;
}

/**
 * What a visit is made of. Each visit has all parts, in one order, set one by one: V8 makes a slow dictionary of an object to which
 * `Object.assign` adds so many (docs/decisions/garbage.md).
 */
export class VisitParts {
  readonly origin: Origin;
  readonly site: Site;
  /** The current content item; the portal at the site's root. */
  readonly content: ContentItem;
  /** The content item of a rule's event is gone: logic has null as its `content`, and the portal stands for it elsewhere. */
  readonly isContentGone: boolean;
  /** Content path of the address, '' at the root; kept in the addresses that a page shows. */
  readonly contentPath: string;
  /** The id of the view whose address was requested: the form of the page's own block posts there too. */
  readonly view: string | undefined;
  readonly requester: Requester;
  /** Makes the request's data when it is first looked at: most answers run no logic. */
  readonly readRequest: () => RequestData;
  /** The page's request when the block is embedded. */
  readonly parentRequest: RequestData | null;
  /**
   * During GET and HEAD records need a CSRF token, and content cannot be changed at all
   * (docs/reference/http.md#writing-during-get).
   */
  readonly writes: { readonly records: boolean; readonly content: boolean };
  /** Why a posted form is not carried out but shown again, with what was entered: its CSRF token is not valid. */
  readonly staleForm: AppsError | undefined;
  /** Parameters of a call from code or a rule. */
  readonly params: Items;
  readonly tokens: FormTokens;
  /** Absent without a client. */
  readonly client: VisitClient | undefined;
  /** The visitor's cookie; absent without a browser, and where visitors share a rendering. */
  readonly visitor: VisitorMark | undefined;
  /** Marks of when a form was shown; absent without a client. */
  readonly forms: FormMarks | undefined;
  /** Files of the request's form. */
  readonly files: RequestFiles | undefined;
  /** The record that the request owns by a signed link (own-link.ts). */
  readonly own: OwnLink | undefined;
  /** The draft that the request continues by a signed link (own-link.ts). */
  readonly draft: OpenDraft | undefined;
  /** Log entries of the request that redirected here, for the same visitor's browser. The blocks of a page take their own. */
  readonly pendingLog: LogEntry[];
  /** The moment at which the request began; absent where no result is kept. */
  readonly begin: RequestBegin | undefined;
  readonly observer: Observer | undefined;
  /** What live blocks have as the moment of their rendering; by default the present one. */
  readonly liveSince: string | undefined;
  /** What a form has as the query of its rendering; by default that of the request. */
  readonly shownQuery: string | undefined;
  /** What all logic of a page has in common; absent where the visit is not a part of one. */
  readonly pageBudget: LogicBudget | undefined;
  /** The function is called for its app, not for its requester: it has all rights in this app, and the requester's in others. */
  readonly isForApp: boolean;
  /** Writes are switched off: what they would have been is listed here (docs/decisions/runs.md). */
  readonly dry: DryRun | undefined;
  /** The console entries of its failed run. */
  readonly failed: { log: LogEntry[] | undefined };

  constructor(parts: VisitParts) {
    this.origin = parts.origin;
    this.site = parts.site;
    this.content = parts.content;
    this.isContentGone = parts.isContentGone;
    this.contentPath = parts.contentPath;
    this.view = parts.view;
    this.requester = parts.requester;
    this.readRequest = parts.readRequest;
    this.parentRequest = parts.parentRequest;
    this.writes = parts.writes;
    this.staleForm = parts.staleForm;
    this.params = parts.params;
    this.tokens = parts.tokens;
    this.client = parts.client;
    this.visitor = parts.visitor;
    this.forms = parts.forms;
    this.files = parts.files;
    this.own = parts.own;
    this.draft = parts.draft;
    this.pendingLog = parts.pendingLog;
    this.begin = parts.begin;
    this.observer = parts.observer;
    this.liveSince = parts.liveSince;
    this.shownQuery = parts.shownQuery;
    this.pageBudget = parts.pageBudget;
    this.isForApp = parts.isForApp;
    this.dry = parts.dry;
    this.failed = parts.failed;
  }
}

/**
 * The request, its requester and its content; the same in every re-run of the request. A visit does not change: what differs is another
 * visit, which a method derives.
 */
export class Visit extends VisitParts {
  /** What is looked at, for a result that may be kept. */
  get inputs(): Inputs | undefined {
    return this.observer?.inputs;
  }

  get request(): RequestData {
    return this.readRequest();
  }

  get flash(): Flash | undefined {
    return this.client?.flash;
  }

  /** Aborted when the client has left; absent without one. */
  get signal(): AbortSignal | undefined {
    return this.client?.signal();
  }

  /** A name that all requests of its sender have in common; absent without a client. */
  get sender(): string | undefined {
    return this.client?.sender();
  }

  /** A keyed digest of the network that sends the request; absent for a call from code. */
  network(): string | undefined {
    return this.client?.network();
  }

  get through(): Through {
    return this.origin.through;
  }

  /** Whether code, a rule or a job calls a function, without a request. */
  get isCall(): boolean {
    return this.origin.kind === 'call' || this.origin.kind === 'job';
  }

  /** Whether the signature of a webhook was checked, and was right. */
  get isVerified(): boolean {
    return this.origin.kind === 'webhook';
  }

  get job(): RunJob | undefined {
    return this.origin.kind === 'job' ? this.origin.job : undefined;
  }

  get rule(): RunRule | undefined {
    return this.origin.kind === 'job' ? this.origin.rule : undefined;
  }

  get failedLog(): LogEntry[] | undefined {
    return this.failed.log;
  }

  /** Keeps the console entries of a run that has failed. */
  noteFailed(log: LogEntry[]): void {
    this.failed.log = log;
  }

  /** A CSRF token for a form. */
  csrfToken(): string {
    return this.tokens.issue();
  }

  /** Takes an app's log entries that came with the redirect to this page; its first block shows them. */
  takePending(app: string): LogEntry[] {
    const own = this.pendingLog.filter((entry) => entry.app === app);
    const others = this.pendingLog.filter((entry) => entry.app !== app);
    this.pendingLog.splice(0, this.pendingLog.length, ...others);
    return own;
  }

  /** With the log entries of one app, which are taken; those of others are left to their blocks, which the theme may embed. */
  forApp(app: string): Visit {
    return this.with({ pendingLog: this.takePending(app) });
  }

  /** A GET of a block in this page, with the page's requester and content, and the page's request as its parent. */
  forBlock(app: string, request: RequestData, pageBudget: LogicBudget): Visit {
    return this.with({
      view: undefined,
      readRequest: () => request,
      parentRequest: originalOf(this.request),
      shownQuery: undefined,
      // What the block looks at it notes by itself.
      visitor: this.visitor && originalOf(this.visitor),
      pendingLog: this.takePending(app),
      pageBudget,
      failed: { log: undefined },
    });
  }

  /** For the blocks that a theme puts into an answer: they can write nothing, and see nothing of what was posted. */
  readOnly(): Visit {
    return this.with({
      view: undefined,
      own: undefined,
      draft: undefined,
      readRequest: lazily(() => ({ ...this.request, method: 'GET', form: {}, body: null })),
      writes: { records: false, content: false },
      params: {},
    });
  }

  /** With the request as a rendering sees it that all visitors of the address share for a time. */
  shared(placeholders: Placeholders, observer: Pick<Observer, 'onSigned' | 'onTime'>): Visit {
    const { parentRequest } = this;
    return this.with({
      visitor: undefined,
      observer: { inputs: undefined, ...observer },
      readRequest: lazily(() => sharedRequest(this.request)),
      parentRequest: parentRequest && sharedRequest(parentRequest),
      pendingLog: [],
      ...placeholders,
    });
  }

  /** With what is looked at noted, and placeholders for what belongs to one visitor, for a rendering that may be kept. */
  observed(
    placeholders: Placeholders,
    inputs: Inputs,
    seen: Pick<Visit, 'requester' | 'parentRequest' | 'visitor'> & { request(): RequestData },
  ): Visit {
    const { requester, parentRequest, visitor, request } = seen;
    const onTime = (until: number) => this.onTime(until);
    return this.with({
      requester,
      parentRequest,
      visitor,
      readRequest: lazily(request),
      observer: { inputs, onSigned: () => inputs.refuse('signed'), onTime },
      ...placeholders,
    });
  }

  /** With placeholders in its forms alone. */
  marked({ tokens, forms }: Placeholders): Visit {
    return this.with({ tokens, forms: this.forms && forms });
  }

  /** With other fields of a form as those that were sent, and other files. */
  withForm(form: Items, files = this.files): Visit {
    return this.with({ files, readRequest: lazily(() => ({ ...this.request, form })) });
  }

  /** With other log entries of earlier requests. */
  withPending(pendingLog: LogEntry[]): Visit {
    return this.with({ pendingLog });
  }

  /** Without the draft that its address continues, because that has ended. */
  withoutDraft(): Visit {
    return this.with({ draft: undefined });
  }

  onSigned(): void {
    this.observer?.onSigned();
  }

  onTime(until: number): void {
    this.observer?.onTime(until);
  }

  private with(changes: Partial<VisitParts>): Visit {
    return new Visit({ ...(this as VisitParts), ...changes });
  }
}

/** What all visitors of an address send alike. */
const sharedRequest = ({ url, path, query }: RequestData): RequestData => ({
  method: 'GET',
  url,
  path,
  query,
  form: {},
  body: null,
  headers: {},
});

/**
 * The tokens of a requester: the forms of an answer share one.
 * @param visitor of the request; that of a visitor whose cookie begins with the answer is theirs, too
 */
export function formTokens(
  { csrf }: Pick<Requesters, 'csrf'>,
  requester: Requester,
  visitor?: Pick<VisitorMark, 'id'>,
): FormTokens {
  let token: string | undefined;
  let holder: string | null = null;
  return {
    issue() {
      const id = visitor?.id() ?? null;
      if (token === undefined || id !== holder) token = csrf.issue(requester, id);
      holder = id;
      return token;
    },
    isIssued: () => token !== undefined,
  };
}

type Needed = 'origin' | 'site' | 'content' | 'contentPath' | 'requester' | 'readRequest' | 'writes' | 'tokens';

/** Makes a visit. What is not given is absent, empty or false. */
export function makeVisit(given: Pick<VisitParts, Needed> & Partial<VisitParts>): Visit {
  const { origin, site, content, contentPath, requester, readRequest, writes, tokens } = given;
  const usual: VisitParts = {
    origin,
    site,
    content,
    contentPath,
    requester,
    readRequest,
    writes,
    tokens,
    isContentGone: false,
    view: undefined,
    parentRequest: null,
    staleForm: undefined,
    params: {},
    client: undefined,
    visitor: undefined,
    forms: undefined,
    files: undefined,
    own: undefined,
    draft: undefined,
    pendingLog: [],
    begin: undefined,
    observer: undefined,
    liveSince: undefined,
    shownQuery: undefined,
    pageBudget: undefined,
    isForApp: false,
    dry: undefined,
    failed: { log: undefined },
  };
  return new Visit({ ...usual, ...given });
}

/** A call of a function, or a change of records, without a request. */
export interface VisitCall extends Partial<Pick<VisitParts, 'isContentGone' | 'isForApp' | 'dry' | 'writes'>> {
  site: Site;
  content: ContentItem;
  requester: Requester;
  /** Absolute. */
  address: string;
  /** They are copied as JSON. */
  params: Items;
  /** Through what it changes records, where no job makes it. */
  through: Through;
  job?: RunJob | undefined;
  /** The rule whose function the job calls. */
  rule?: RunRule | undefined;
}

/** The visit of a call from code, a rule, a job or the admin panel: a POST to `address`. */
export function callVisit({ requesters }: { requesters: Pick<Requesters, 'csrf'> }, call: VisitCall): Visit {
  const { address, params, through, job, rule, ...given } = call;
  const { site, content, requester } = given;
  const { href, pathname } = new URL(address);
  const request = { method: 'POST', url: href, path: pathname, query: {}, form: {}, body: null, headers: {} };
  return makeVisit({
    writes: { records: true, content: true },
    origin: job ? { kind: 'job', through: rule ? 'rule' : 'job', job, rule } : { kind: 'call', through },
    // An item of another site, or of none, has no address in this site.
    contentPath: content.url?.startsWith(`${site.url}/`) ? trimSlashes(content.path) : '',
    readRequest: () => request,
    params: JSON.parse(JSON.stringify(params)) as Items,
    tokens: formTokens(requesters, requester),
    ...given,
  });
}
