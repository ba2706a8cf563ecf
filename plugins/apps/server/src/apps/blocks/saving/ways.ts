/** What is taken of the items that come by a way; a way has one of a few senders. */
export interface Sender {
  /** Inputs that are read and checked: those that the layout of the block shows, or all that it declares. */
  readonly inputs: 'shown' | 'declared';
  /**
   * Items that the block does not declare as inputs, and those that the server sets: never read; left out, and refused in a
   * strict app; or taken.
   */
  readonly others: 'ignored' | 'refused' | 'taken';
  /** Files that items may have: sent with the form, of the app in the media library, or any. */
  readonly files: 'sent' | 'own' | 'any';
  /** Whether anonymous passes the guard of public forms: always, in a strict app, or never. */
  readonly guard: 'always' | 'strict' | 'never';
  /** Whether the mail of `notify` is sent. */
  readonly notifies: boolean;
}

/** Who sends items (docs/reference/rules.md). */
export const senders = {
  /** A browser, with a form that the server has shown. */
  form: { inputs: 'shown', others: 'ignored', files: 'sent', guard: 'always', notifies: true },
  /** A client that sends a form as JSON. */
  jsonForm: { inputs: 'shown', others: 'refused', files: 'own', guard: 'strict', notifies: true },
  /** A client that sends a record's items; an import. */
  client: { inputs: 'declared', others: 'refused', files: 'own', guard: 'never', notifies: false },
  /** Logic of the app, whose author has written the rules too. */
  logic: { inputs: 'declared', others: 'taken', files: 'any', guard: 'never', notifies: false },
} as const satisfies Record<string, Sender>;

/** A way by which items of a record come to the server. */
export interface Way {
  /** For readers: what is sent, or called. */
  readonly title: string;
  readonly sender: keyof typeof senders;
  /**
   * The right that the requester needs; `link`: the signed link of the record is the right to change it, whatever `acl` and
   * `view_permission` say; null: the author of the app or the operator of the host sends it.
   */
  readonly right: 'create' | 'edit' | 'link' | null;
  /** Whether it is of the JSON interface, which `json` in settings.yaml can close. */
  readonly json: boolean;
}

/** All ways. Each has its requests in tests/rules. */
export const ways = {
  form: { title: 'the form of a block', sender: 'form', right: 'create', json: false },
  recordForm: { title: 'the form of a record', sender: 'form', right: 'edit', json: false },
  jsonForm: { title: '`POST <app>/blocks/<block>` with JSON', sender: 'jsonForm', right: 'create', json: false },
  draftForm: { title: 'the form of a draft', sender: 'form', right: 'create', json: false },
  draftJson: { title: '`POST <app>/draft/<token>` with JSON', sender: 'jsonForm', right: 'create', json: false },
  ownForm: { title: 'the form of an own record, by its link', sender: 'form', right: 'link', json: false },
  ownPatch: { title: '`PATCH <app>/mine/<token>`', sender: 'jsonForm', right: 'link', json: false },
  create: { title: '`POST <app>`', sender: 'client', right: 'create', json: true },
  createById: { title: '`PUT <app>/record/<id>`', sender: 'client', right: 'create', json: true },
  patch: { title: '`PATCH <app>/record/<id>`', sender: 'client', right: 'edit', json: true },
  post: { title: '`POST <app>/record/<id>`', sender: 'client', right: 'edit', json: true },
  bulk: { title: '`POST <app>/records`', sender: 'client', right: 'create', json: true },
  ndjson: { title: '`POST <app>/records` with NDJSON', sender: 'client', right: 'create', json: true },
  panelForm: { title: "a block's form in the panel", sender: 'form', right: 'create', json: false },
  panelCreate: { title: 'a new record in the panel', sender: 'client', right: 'create', json: false },
  panelUpdate: { title: "a record's items in the panel", sender: 'client', right: 'edit', json: false },
  panelImport: { title: 'an import in the panel', sender: 'client', right: 'create', json: false },
  commandImport: { title: '`import` of the command line', sender: 'client', right: null, json: false },
  save: { title: '`record.save()` of logic', sender: 'logic', right: null, json: false },
  event: { title: '`record.save()` by a rule on events', sender: 'logic', right: null, json: false },
  call: { title: '`record.save()` by a call from code', sender: 'logic', right: null, json: false },
} as const satisfies Record<string, Way>;

export type WayName = keyof typeof ways;
