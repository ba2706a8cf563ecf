import type { CellKind } from '../../../../shared/cells';
import type { Items, Json } from '../../../../shared/json';
import type { SourcePosition } from '../../common/errors';
import type { Region } from '../../common/time/moments';
import type { RequestFiles, StoredFile, TemporaryFile } from '../../files';
import type { StoredRecord } from '../../records/types';
import type { Message, PageLocale } from '../locales';
import type { PatternWork } from '../patterns';
import type { ElementDefinition, ElementOption, OwnSettings } from '../types';
import type { YamlNode } from '../yaml';
import type { SentEntries, ShownEntry } from './entries';
import type { FileEntries, ShownFile } from './file';
import type { Settings } from './inputs/settings';

export type ElementRole = 'input' | 'action' | 'html' | 'group';

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Items;

/** One row of the element type table (docs/reference/definitions.md#element-types); an element type is a file or a folder. */
export interface ElementType<Own = OwnSettings> {
  /** A form field whose value is stored with the record, a button, HTML that its function returns, or others under a heading. */
  readonly role: ElementRole;
  /** Keys of its definition besides `type`. */
  readonly settings: Settings<Own>;
  /** Checks settings against each other, after each was checked by itself; throws a DefinitionError. */
  check?(definition: ElementDefinition<Own>, at: YamlNode): void;
  /** Whether its value is a list. Default: false. */
  isList?(definition: ElementDefinition<Own>): boolean;
  /** How a cell of a spreadsheet is read as its value; default: as a text, or a list where `isList` says so. */
  readonly cell?: Exclude<CellKind, 'text' | 'list'>;
  /** Why it is no field of a repeated group; absent where it may be one. */
  readonly notRepeated?: string;
  /** Names of the elements that it shows under its heading. */
  members?(definition: ElementDefinition<Own>): readonly string[];
  /** The fields of each entry of its value, which is a list. */
  fields?(definition: ElementDefinition<Own>): ReadonlyMap<string, ElementDefinition> | undefined;
  /** The options that its definition lists; undefined where a function gives them. Absent on types without options. */
  options?(definition: ElementDefinition<Own>): readonly ElementOption[] | undefined;
  /** What it adds to a form; default: a field, and the options that are listed. */
  load?(definition: ElementDefinition<Own>): FormLoad;
  /** Its values are e-mail addresses: a receipt may go to one, and unique ones are compared without case. */
  readonly isAddress?: true;
  /** Its values are days or moments, which a receipt may put into a calendar. */
  readonly isDate?: true;
  /** Its values are times: of one there are several spellings, and unique ones are compared by the site's clock. */
  readonly isClock?: true;
  /** Its values are addresses of the web, which the panel shows as links. */
  readonly isLink?: true;
  /** Its values are numbers: conditions on it compare numbers, not texts. */
  readonly isNumeric?: true;
  /**
   * The texts that a form which shows a stored value sends back where its sender has left the control alone
   * (docs/reference/definitions.md#fields-that-are-left-alone). Default: the value as one text.
   */
  shows?(value: Json, definition: ElementDefinition<Own>, region: Region): readonly string[];
  /** Sent texts as they are compared with those, without what a browser changes by itself. Default: the last one, in one line. */
  compares?(submitted: readonly string[], definition: ElementDefinition<Own>): readonly string[];
  /**
   * Converts what was submitted into the value to store, or says what is wrong with it; a promise where it must ask for something,
   * and never without a request. Present on inputs, but those of files.
   */
  read?(submitted: readonly string[], definition: ElementDefinition<Own>, context: ReadContext): Read | Promise<Read>;
  /**
   * The texts that a browser would send for a JSON value, none for what it leaves out; a message for a value of another type.
   * Where it is absent, texts, numbers and truth values are sent as they are written, and a list only where `isList` says so.
   */
  sent?(value: Json): readonly string[] | Message;
  /** The message for a JSON value of another type, such as an object. Default: that it must be text. */
  readonly otherType?: Message;
  /** Of a type whose values are files. */
  readonly files?: {
    taken(definition: ElementDefinition<Own>): TakenFiles;
    /** As `read`: the files that the record will have. */
    read(
      entries: FileEntries,
      definition: ElementDefinition<Own>,
    ): { files: (StoredFile | TemporaryFile)[] } | { error: Message };
  };
  /** What its values lead to, as far as the requester may see it. @param ids those of values */
  targets?(ids: readonly string[], definition: ElementDefinition<Own>, data: ElementData): Promise<ReferenceTarget[]>;
  /** The values that its form field stores (docs/reference/openapi.md#items-of-a-block). Present on inputs only. */
  schema?(definition: ElementDefinition<Own>, schemaOf: (element: ElementDefinition) => JsonSchema | null): JsonSchema;
  /**
   * A stored value as people read it, on pages and in mails, where that differs from how it is stored: dates and numbers in the
   * language of the page. Values of another type unchanged.
   */
  readable?(value: Json, region: Region, definition: ElementDefinition<Own>): string;
  /** The service's message that is a stored value in mails; undefined where that is a text of its own. */
  word?(value: Json): 'yes' | 'no' | undefined;
  /**
   * HTML of the element; every value and label escaped. A promise where it must ask for something. Absent on BASIC, whose function makes
   * the HTML, and on GROUP, which consists of others.
   */
  show?(view: ElementView<Own>, context: ShowContext): string | Promise<string | ShownElement>;
}

/** How much of what a form is bounded in an element adds to it. */
export interface FormLoad {
  fields?: number;
  options?: number;
  files?: number;
  targets?: number;
}

export interface ElementView<Own = OwnSettings> {
  definition: ElementDefinition<Own>;
  /** `input`: a form field (new record or edit mode); `text`: the stored value for reading. */
  mode: 'input' | 'text';
  /** The stored or default value. */
  value: Json;
  /** The stored value; absent where there is none. What it has chosen stays among the options. */
  stored?: Json | undefined;
  /** Submitted entries, shown again after a validation error; null when nothing was submitted. */
  entered: readonly string[] | null;
  /** Validation error to show beside the field. */
  error: string | null;
  /** Whether the page begins with the focus in it: the first wrong field. */
  autofocus?: boolean;
  options: readonly ElementOption[];
  /** The language of the page. */
  locale: Pick<PageLocale, 'say' | 'size' | 'tag' | 'timeZone'>;
  /** Files that are there already. */
  files?: readonly ShownFile[];
  /** A function gives the default value. */
  hasDefault?: boolean;
  /** Begins the ids of the element's controls; `apps` unless several blocks may be on one page. */
  idPrefix?: string;
  /** Address that an action's button posts to, if it differs from its form's. */
  formAction?: string | undefined;
  /** Whether an action's button cannot be pressed. */
  disabled?: boolean;
}

/** A target of a reference, as far as the requester may see it. */
export interface ReferenceTarget {
  id: string;
  label: string;
  url: string | null;
  /** Its fields, for layouts. */
  parts: Items;
}

/** An entry of a content type that the site shows, with its fields. */
export interface ContentEntry {
  id: string;
  title: string;
  url: string | null;
  fields: Items;
}

/** The records of an app that the requester of a run may see. */
export interface VisibleRecords {
  /** A record; null where it is gone or hidden. */
  get(id: string): Promise<StoredRecord | null>;
  /**
   * Records that a query finds, in order of creation; all where it is empty.
   * @param names variables of the query
   * @param block only records of this block
   */
  search(query: string, names: Items, limit: number, block?: string): Promise<readonly StoredRecord[]>;
  /** Whether an item has an index of words. */
  hasWords(item: string): boolean;
  /** The records with the addresses that their files have for the requester. */
  shown(records: readonly StoredRecord[]): Promise<readonly StoredRecord[]>;
  url(id: string): string;
}

/** Content and records as the requester of a run sees them. */
export interface ElementData {
  /** The attempt at the request: what is found once in it stays so. */
  readonly attempt: object;
  /** The app of the block. */
  readonly app: string;
  /** Names of the fields of a content type; null: there is no such type. */
  contentFields(uid: string): ReadonlySet<string> | null;
  /** @param params as `findMany` of Strapi's documents takes them */
  content(uid: string, params: Items): Promise<readonly ContentEntry[]>;
  /** The records of an app; null where the requester sees none. DefinitionError without the app. @param position names it */
  records(app: string, position: SourcePosition): Promise<VisibleRecords | null>;
}

/** What reading a value may use. */
export interface ReadContext {
  /** The options that may be sent. */
  options: readonly ElementOption[];
  /** The budget of the patterns of all inputs; undefined: unbounded, for texts of definitions. */
  work: PatternWork | undefined;
  /** Null for a value that no form has sent, such as a default. */
  request: ReadRequest | null;
}

/** A form whose inputs are read. */
export interface ReadForm {
  data: ElementData;
  /** Of all elements; those of fields in entries by the names of `entryElements`. */
  options: ReadonlyMap<string, readonly ElementOption[]>;
  work: PatternWork;
  region: Region;
  files: FileSources;
  /** Takes files that are read: the record will have them. */
  take(files: readonly (StoredFile | TemporaryFile)[]): void;
}

/** What a form has sent for one input. */
export interface ReadRequest extends ReadForm {
  /** The input as forms name it, in an entry without its number: `<group>:<field>`. */
  field: string;
  /** Entries of a repeated group; empty for another input. */
  entries: SentEntries;
  /** The value that the record has; undefined where it has none. */
  stored: Json | undefined;
  /** The stored value that the form has shown; undefined where it has shown none. */
  shown: Json | undefined;
}

/** A message about a field of a form, before it is put into words. */
export interface WrongField {
  path: string[];
  message: Message;
}

/** A value that was read, or what is wrong with it; of a repeated group with its fields. */
export type Read = { value: Json } | { error: Message } | { wrong: readonly WrongField[] };

/** The HTML of an element, with what of it layouts can show by `{name.key}`. */
export interface ShownElement {
  html: string;
  parts: Json;
}

/** What showing a value may use. */
export interface ShowContext {
  /** The HTML of a Markdown text. */
  markdown(text: string): Promise<string>;
  data: ElementData;
  /** The options of elements, also those that functions give. */
  options(elements: readonly ElementDefinition[]): Promise<ReadonlyMap<string, readonly ElementOption[]>>;
  /** Files of a form. @param submitted the texts of their field in a form that is shown again, else those of the value */
  files(submitted: readonly string[] | null, value: Json): readonly ShownFile[];
  /** What a form says beside a field, an entry's by its whole name. */
  beside(name: string): { error: string | null; autofocus: boolean };
  /** The form that is shown again; null where its fields have their usual values. */
  sent: ShownAgain | null;
  /** For a field of a repeated group: what all entries hold. */
  ofEntries: { stored: Json; chosen: ReadonlySet<string> } | null;
}

/** What a form that is shown again says of elements with buttons of their own. */
export interface ShownAgain {
  /** Entries of repeated groups, by element. */
  repeats: ReadonlyMap<string, readonly ShownEntry[]>;
  /** The repeated group and the position of its entry that get the focus; -1: its button to add one. */
  focus?: { element: string; position: number };
  /** Texts by which targets of references are looked for, by element, and the element whose button was pressed. */
  searches?: ReadonlyMap<string, string>;
  searched?: string | undefined;
}

/** Where the files of a submission come from. */
export interface FileSources {
  /** The request's files; absent for a form without any. */
  files: RequestFiles | undefined;
  /** Items of the record that the form changes. */
  items: Items | undefined;
  /** Other stored files that the form may name, by document id: those of its draft, and of a JSON client those of the app. */
  named?: ReadonlyMap<string, StoredFile>;
  /** Whether a stored file that is none of these is refused; else it is left out. */
  isStrict?: boolean;
}

/** The files that an element takes. */
export interface TakenFiles {
  /** Bytes of one. */
  maxSize: number;
  count: number;
  isPublic: boolean;
  folder: string | undefined;
}
