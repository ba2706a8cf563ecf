import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml';
import type { Json } from '../../../shared/json';
import { AppsError, type SourcePosition } from '../errors';
import type { ThemeFile } from '../sites';
import { type Path, Places, pathKey } from './yaml-places';

/** Characters of a YAML file, at most. */
const MAX_LENGTH = 256 * 1024;
/** How many aliases a file may stand for once all of them are written out (contract, section 7). */
const MAX_EXPANSION = 100;

/** One value of a YAML file that knows where it stands, so that every complaint can say so. */
export interface YamlPlace {
  readonly value: Json;
  /** How people call it: `elements.total.min`; '' for the whole file. */
  readonly name: string;
  readonly position: SourcePosition;
  /** A value inside this mapping or list. */
  child(key: string | number): YamlPlace;
  /** Where the key itself stands; for complaints about keys. */
  key(key: string): YamlPlace;
  /** Throws a DefinitionError that names the value's place. */
  fail(message: string): never;
}

/**
 * Reads a YAML file by the core schema: no custom tags, no duplicate keys, bounded size and expansion. An empty file is
 * null. DefinitionError with file, line and column for anything else that is not one YAML document of JSON values.
 */
export function readYaml(file: ThemeFile): YamlPlace {
  const { path, text } = file;
  if (file.problem) throw definitionError(file.problem, { file: path });
  if (text.length > MAX_LENGTH)
    throw definitionError(`The file is longer than ${MAX_LENGTH / 1024} kB`, { file: path });
  try {
    const events = parseEvents(text, { maxDepth: 50 });
    const places = locate(events, text, path);
    const documents = constructFromEvents(events, { source: text, schema: CORE_SCHEMA });
    if (documents.length > 1) throw definitionError('The file must hold one YAML document', { file: path });
    const root = place((documents[0] ?? null) as Json, [], places, path);
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
  return definitionError(`This is not valid YAML: ${reason}`, position);
}

interface Level {
  path: Path;
  kind: 'document' | 'sequence' | 'mapping';
  count: number;
  /** In a mapping: the key whose value comes next. */
  key: string | null;
  anchor: string | null;
  /** Aliases that this collection stands for once written out. */
  cost: number;
}

/** Walks over the events once: notes where everything stands, and refuses expansion without bounds. */
function locate(events: Event[], text: string, file: string): Places {
  const places = new Places(text);
  const costs = new Map<string, number>();
  const levels: Level[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      const ended = levels.pop() as Level;
      if (ended.anchor !== null) costs.set(ended.anchor, ended.cost);
      const outer = levels.at(-1);
      if (outer) outer.cost += ended.cost;
      continue;
    }
    if (event.type === EVENT_ID.DOCUMENT) {
      costs.clear();
      levels.push({ path: [], kind: 'document', count: 0, key: null, anchor: null, cost: 0 });
      continue;
    }
    const level = levels.at(-1) as Level;
    const start = startOf(event);
    const path = step(level, event, text, start, places);
    const anchor = event.anchorStart < 0 ? null : text.slice(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.SCALAR) {
      if (anchor !== null) costs.set(anchor, 0);
    } else if (event.type === EVENT_ID.ALIAS) {
      level.cost += aliasCost(costs, anchor as string, levels, () => places.find(path, 'values'), file);
    } else {
      const kind = event.type === EVENT_ID.SEQUENCE ? 'sequence' : 'mapping';
      levels.push({ path, kind, count: 0, key: null, anchor, cost: 0 });
    }
  }
  return places;
}

function startOf(event: Exclude<Event, { type: 1 | 6 }>): number {
  if (event.type === EVENT_ID.SCALAR) {
    const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    return event.valueStart - (quoted ? 1 : 0);
  }
  return event.type === EVENT_ID.ALIAS ? event.anchorStart - 1 : event.start;
}

/** The path of the value that begins, noted with its offset; moves the level on to its next key or item. */
function step(level: Level, event: Event, text: string, start: number, places: Places): Path {
  if (level.kind !== 'mapping') {
    const path = level.kind === 'document' ? [] : [...level.path, level.count];
    level.count += 1;
    places.begins(path, start);
    return path;
  }
  if (level.key === null) {
    level.key = event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : '';
    const path = [...level.path, level.key];
    places.keys.set(pathKey(path), start);
    return path;
  }
  const path = [...level.path, level.key];
  level.key = null;
  places.begins(path, start);
  return path;
}

function aliasCost(
  costs: Map<string, number>,
  anchor: string,
  levels: Level[],
  at: () => { line: number; column: number },
  file: string,
): number {
  if (levels.some((open) => open.anchor === anchor)) {
    throw definitionError(`The alias *${anchor} contains itself`, { file, ...at() });
  }
  const cost = 1 + (costs.get(anchor) ?? 0);
  const total = levels.reduce((sum, open) => sum + open.cost, cost);
  if (total > MAX_EXPANSION) {
    throw definitionError(`Aliases expand to more than ${MAX_EXPANSION} copies`, { file, ...at() });
  }
  return cost;
}

function place(value: Json, path: Path, places: Places, file: string, kind: 'values' | 'keys' = 'values'): YamlPlace {
  const name = path.join('.');
  return {
    value,
    name,
    get position() {
      return { file, ...places.find(path, kind) };
    },
    child: (key) => place((value as { [key: string | number]: Json })[key] as Json, [...path, key], places, file),
    key: (key) => place(key, [...path, key], places, file, 'keys'),
    fail(message) {
      throw definitionError(name === '' ? message : `${name}: ${message}`, { file, ...places.find(path, kind) });
    },
  };
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
