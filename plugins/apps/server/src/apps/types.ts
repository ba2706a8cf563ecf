import type { Items, Json } from '../../../shared/json';
import type { AppsError, SourcePosition } from '../errors';
import type { IndexDeclarations, IndexType } from '../indexes/types';
import type { LayoutSource } from '../layouts/types';
import type { Acl } from '../requester/types';
import type { AppFolder } from '../sites/types';

export type ElementMode = 'COMPUTED_ON_SAVE' | 'COMPUTED_ON_CREATION';

export interface ElementOption {
  value: string | number | boolean;
  label: string;
}

/** An element's declaration, checked; keys that its type does not take are a DefinitionError (contract, section 7). */
export interface ElementDefinition {
  name: string;
  /** Name of a row in the element type table. */
  type: string;
  label?: string;
  required?: boolean;
  default?: Json;
  placeholder?: string;
  help?: string;
  min?: number | string;
  max?: number | string;
  step?: number | 'any';
  minlength?: number;
  maxlength?: number;
  pattern?: string;
  options?: ElementOption[];
  multiple?: boolean;
  indexType?: IndexType;
  mode?: ElementMode;
  /** Where the element is declared. */
  position: SourcePosition;
}

export interface Definition {
  target: 'ajax' | null;
  /** `withTheme`: of the view alone; null where the view does not say. */
  view: { id: string; withTheme: boolean | null } | null;
  /** Whether pages of the block are shown in the theme's layout; null: as the app's settings say. */
  withTheme: boolean | null;
  /** Null: open to all. */
  viewPermission: readonly string[] | null;
  /** How an embedded block keeps itself fresh: every so many seconds, or when a record that it read has changed. */
  refresh: number | 'on-change' | null;
  /** Seconds for which anonymous visitors may be shown the same rendering; null: each sees a fresh one. */
  cache: number | null;
  elements: ReadonlyMap<string, ElementDefinition>;
  /** The elements as operation `GET <app>/blocks/<block_id>` shows them: every one a mapping with `type`. */
  source: Items;
}

/** A block of an app, at one revision of the app's folder. */
export interface Block {
  id: string;
  layout: LayoutSource | null;
  logic: { path: string; language: 'javascript' | 'typescript' | 'python' } | null;
  definition: Definition;
  /** The DefinitionError that breaks this block alone; thrown when the block is used. */
  error: AppsError | null;
}

export interface Settings {
  debug: boolean;
  /** Pages are shown in the theme's layout, unless a definition says otherwise. */
  withTheme: boolean;
  acl: Acl | null;
  /** The parsed file as operation 1 shows it, `{}` if missing or empty. */
  source: Items;
}

/** An app at one revision: everything that its files say, checked. */
export interface App {
  folder: AppFolder;
  id: string;
  revision: string;
  settings: Settings;
  /** A broken settings.yaml: the app then has no acl and every use of it by a visitor is this DefinitionError. */
  error: AppsError | null;
  blocks: ReadonlyMap<string, Block>;
  /** From the definitions of all blocks that are not broken; two types for one name are a DefinitionError of the later block. */
  indexes: IndexDeclarations;
}
