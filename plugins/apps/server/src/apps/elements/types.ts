import type { CellKind } from '../../../../shared/cells';
import type { Items, Json } from '../../../../shared/json';
import type { Region } from '../../common/values/moments';
import type { StoredFile, TemporaryFile } from '../../files';
import type { Message, PageLocale } from '../locales';
import type { PatternWork } from '../patterns';
import type { ElementDefinition, ElementOption } from '../types';
import type { YamlNode } from '../yaml/yaml';
import type { FileEntries, ShownFile } from './file-types';
import type { Settings } from './inputs/settings';

export type ElementRole = 'input' | 'action' | 'html' | 'group';

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Items;

/** One row of the element type table (docs/reference/definitions.md#element-types); an element type is one file. */
export interface ElementType {
  /** A form field whose value is stored with the record, a button, HTML that its function returns, or others under a heading. */
  readonly role: ElementRole;
  /** Keys of its definition besides `type`. */
  readonly settings: Settings;
  /** Checks settings against each other, after each was checked by itself; throws a DefinitionError. */
  check?(definition: ElementDefinition, at: YamlNode): void;
  /** Whether its value is a list. Default: false. */
  isList?(definition: ElementDefinition): boolean;
  /** How a cell of a spreadsheet is read as its value; default: as a text, or a list where `isList` says so. */
  readonly cell?: Exclude<CellKind, 'text' | 'list'>;
  /** Its values are numbers: conditions on it compare numbers, not texts. */
  readonly isNumeric?: true;
  /**
   * The texts that a form which shows a stored value sends back where its sender has left the control alone
   * (docs/reference/definitions.md#fields-that-are-left-alone). Default: the value as one text.
   */
  shows?(value: Json, definition: ElementDefinition, region: Region): readonly string[];
  /** Sent texts as they are compared with those, without what a browser changes by itself. Default: the last one, in one line. */
  compares?(submitted: readonly string[], definition: ElementDefinition): readonly string[];
  /**
   * Converts the submitted entries of the element's name into the value to store, or gives a message of one sentence.
   * `work` is the budget of the patterns of all inputs. Present on inputs only.
   */
  read?(
    submitted: readonly string[],
    definition: ElementDefinition,
    options: readonly ElementOption[],
    work?: PatternWork,
  ): { value: Json } | { error: Message };
  /**
   * The texts that a browser would send for a JSON value, none for what it leaves out; a message for a value of another type.
   * Where it is absent, texts, numbers and truth values are sent as they are written, and a list only where `isList` says so.
   */
  sent?(value: Json): readonly string[] | Message;
  /** The message for a JSON value of another type, such as an object. Default: that it must be text. */
  readonly otherType?: Message;
  /** As `read`, for types whose values are files: the files that the record will have. */
  files?(
    entries: FileEntries,
    definition: ElementDefinition,
  ): { files: (StoredFile | TemporaryFile)[] } | { error: Message };
  /** The values that its form field stores (docs/reference/openapi.md#items-of-a-block). Present on inputs only. */
  schema?(definition: ElementDefinition, schemaOf: (element: ElementDefinition) => JsonSchema | null): JsonSchema;
  /**
   * A stored value as people read it, on pages and in mails, where that differs from how it is stored: dates and numbers in the
   * language of the page. Values of another type unchanged.
   */
  readable?(value: Json, region: Region, definition: ElementDefinition): string;
  /** HTML of the element; every value and label escaped. Absent on BASIC, whose function makes the HTML. */
  render?(view: ElementView): string;
  /** HTML of a stored value for reading, where it needs services of the server; otherwise `render` makes it. */
  show?(view: ElementView, tools: ShowTools): Promise<string>;
}

/** Services of the server that showing a value may use. */
export interface ShowTools {
  /** The HTML of a Markdown text. */
  markdown(text: string): Promise<string>;
}

export interface ElementView {
  definition: ElementDefinition;
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
  /** Addresses of a reference's targets, by id. */
  links?: ReadonlyMap<string, string>;
  /** What a reference's form offers: the text that was looked for, and whether there is more, or nothing. */
  offers?: { find: string; more: boolean; none: boolean; searched: boolean };
  /** A function gives the default value. */
  hasDefault?: boolean;
  /** Begins the ids of the element's controls; `apps` unless several blocks may be on one page. */
  idPrefix?: string;
  /** Address that an action's button posts to, if it differs from its form's. */
  formAction?: string | undefined;
  /** Whether an action's button cannot be pressed. */
  disabled?: boolean;
}
