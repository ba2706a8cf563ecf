import { CORE_SCHEMA, constructFromEvents, parseEvents, YAMLException } from 'js-yaml';
import type { Json } from '../../../shared/json';
import { AppsError, type SourcePosition } from '../errors';
import type { ThemeFile } from '../sites';
import { checkEvents, shorten } from './yaml-events';
import { type Path, Places } from './yaml-places';

/** Characters of a YAML file, at most: reading it takes a tenth of a second at worst, on the server's own thread. */
const MAX_LENGTH = 128 * 1024;
/** Levels of mappings and lists inside each other, at most. */
const MAX_DEPTH = 50;

/** One value of a YAML file that knows where it stands, so that every complaint can say so. */
export interface YamlPlace {
  readonly value: Json;
  /** How people call it: `elements.total.min`, cut where it is very long; '' for the whole file. */
  readonly name: string;
  readonly position: SourcePosition;
  /** A value inside this mapping or list. */
  child(key: string | number): YamlPlace;
  /** Where the key itself stands; for complaints about keys. */
  key(key: string): YamlPlace;
  /** Throws a DefinitionError that names the value's place. */
  fail(message: string): never;
  /** The same error, for unknown keys that are only a warning. */
  error(message: string): AppsError;
  /** Set where unknown keys are let pass. */
  readonly tolerance: Tolerance | undefined;
}

/** Lets unknown keys pass: `tell` is called for each, at most `left` times. */
export interface Tolerance {
  left: number;
  tell(message: string): void;
}

/**
 * Reads a YAML file by the core schema: no custom tags, no duplicate keys, bounded size and expansion. An empty file is
 * null. DefinitionError with file, line and column for anything else that is not one YAML document of JSON values.
 */
export function readYaml(file: ThemeFile, tolerance?: Tolerance): YamlPlace {
  const { path, text } = file;
  if (file.problem) throw definitionError(file.problem, { file: path });
  if (text.length > MAX_LENGTH)
    throw definitionError(`The file is longer than ${MAX_LENGTH / 1024} kB`, { file: path });
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const places = new Places(text, events);
    checkEvents(events, text, (message, offset) => {
      throw definitionError(message, { file: path, ...places.at(Math.max(0, offset)) });
    });
    const documents = constructFromEvents(events, { source: text, schema: CORE_SCHEMA });
    if (documents.length > 1) throw definitionError('The file must hold one YAML document', { file: path });
    const root = new Place((documents[0] ?? null) as Json, { places, file: path, tolerance });
    refuseOddValues(root);
    return root;
  } catch (error) {
    if (error instanceof YAMLException) throw yamlError(error, path);
    throw error;
  }
}

/** A DefinitionError whose message begins with the place: `blocks/rate.yaml:3:5: …`. */
export function definitionError(message: string, position: SourcePosition): AppsError {
  const { file, line, column } = position;
  const at = [file, line, column].filter((part) => part !== undefined).join(':');
  return new AppsError('DefinitionError', `${at}: ${message}`, { position });
}

function yamlError(error: YAMLException, file: string): AppsError {
  const { mark, reason } = error;
  const position = mark ? { file, line: mark.line + 1, column: mark.column + 1 } : { file };
  return definitionError(`This is not valid YAML: ${shorten(reason)}`, position);
}

/** A value or key as a link to the one around it: its path and position are worked out when they are asked for. */
class Place implements YamlPlace {
  constructor(
    readonly value: Json,
    private readonly source: { places: Places; file: string; tolerance?: Tolerance },
    private readonly link?: { outer: Place; step: string | number; kind: 'value' | 'key' },
  ) {}

  get name(): string {
    return shorten(this.path.join('.'));
  }

  get position(): SourcePosition {
    const { places, file } = this.source;
    return { file, ...places.find(this.path, this.link?.kind ?? 'value') };
  }

  child(key: string | number): YamlPlace {
    const value = (this.value as { [key: string | number]: Json })[key] as Json;
    return new Place(value, this.source, { outer: this, step: key, kind: 'value' });
  }

  key(key: string): YamlPlace {
    return new Place(key, this.source, { outer: this, step: key, kind: 'key' });
  }

  get tolerance(): Tolerance | undefined {
    return this.source.tolerance;
  }

  fail(message: string): never {
    throw this.error(message);
  }

  error(message: string): AppsError {
    const { name } = this;
    return definitionError(name === '' ? message : `${name}: ${message}`, this.position);
  }

  private get path(): Path {
    const path: (string | number)[] = [];
    for (let { link } = this as Place; link; link = link.outer.link) path.unshift(link.step);
    return path;
  }
}

/** YAML can write values that JSON cannot, and keys that are traps for JavaScript. What aliases repeat is seen once. */
function refuseOddValues(at: YamlPlace, seen = new Set<Json>()): void {
  const { value } = at;
  if (typeof value === 'number' && !Number.isFinite(value)) at.fail('Infinite and undefined numbers are not allowed');
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const key of Object.keys(value)) {
    if (key === '__proto__') at.key(key).fail('This key is not allowed');
    refuseOddValues(at.child(Array.isArray(value) ? Number(key) : key), seen);
  }
}
