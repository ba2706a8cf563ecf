import type { Schema } from '@strapi/strapi';
import { type Items, isItems, type Json } from '../../../../shared/json';
import { AppsError } from '../../common/errors';
import type { CallParams, DocumentQuery } from './access';

/**
 * What a query may join. Strapi joins the tables of each relation in `filters` and `sort` once more for each condition: with
 * lists, the database looks through every combination of their entries, so that the third list multiplies the time by the
 * length of one. Each populated attribute is another statement, for all entries of the level above.
 */
export const MAX_COST = {
  /** Relations, components and files in `filters` and `sort` of one level; those of them that are lists. */
  relations: 6,
  lists: 2,
  /** Lists by which it is sorted: the database sorts their entries, not those of the type. */
  sortedLists: 1,
  /** Levels of `populate`, and populated attributes of all levels together; `*` counts as all of its level. */
  levels: 4,
  populated: 50,
};

/** The part of a content type's or a component's schema that is used here. */
interface Model {
  attributes: Record<string, Attribute>;
}

interface Attribute {
  type: string;
  /** Of a relation. */
  relation?: string;
  target?: string;
  /** Of a component. */
  component?: string;
  repeatable?: boolean;
  /** Of files. */
  multiple?: boolean;
}

type Models = (uid: string) => Model | undefined;

const FILE = 'plugin::upload.file';

const refuse = (message: string): never => {
  throw new AppsError('BadRequestError', message);
};

/** The attribute of a name, if it is stored in another table. */
function joined(model: Model | undefined, name: string): Attribute | null {
  const found = model && Object.hasOwn(model.attributes, name) ? model.attributes[name] : undefined;
  return found && ['relation', 'component', 'media', 'dynamiczone'].includes(found.type) ? found : null;
}

const isList = ({ type, relation, repeatable, multiple }: Attribute): boolean =>
  type === 'dynamiczone' || repeatable === true || multiple === true || /(Many|Way)$/.test(relation ?? '');

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** Names in a text with commas, each as its parts. */
const pathsIn = (text: string): string[][] => text.split(',').map((name) => name.trim().split('.'));

class QueryCost {
  private populated = 0;

  constructor(private readonly models: Models) {}

  /** Counts what one level of a query joins, and everything that it populates. */
  level({ filters, sort, populate }: DocumentQuery, model: Model | undefined, depth: number): void {
    const sorted: Attribute[] = [];
    for (const one of listOf(sort)) this.sort(one, model, sorted);
    if (sorted.filter(isList).length > MAX_COST.sortedLists)
      refuse(`"sort" uses lists of relations or components more than ${MAX_COST.sortedLists} time.`);
    const found = [...sorted];
    this.filters(filters, model, found);
    const lists = found.filter(isList).length;
    if (lists > MAX_COST.lists)
      refuse(`"filters" and "sort" use lists of relations or components ${lists} times, ${MAX_COST.lists} at most.`);
    if (found.length > MAX_COST.relations)
      refuse(`"filters" and "sort" use relations ${found.length} times, ${MAX_COST.relations} at most.`);
    for (const one of listOf(populate)) this.populate(one, model, depth);
  }

  private target({ type, target, component }: Attribute): Model | undefined {
    const uid = type === 'media' ? FILE : (target ?? component);
    return uid === undefined ? undefined : this.models(uid);
  }

  private filters(value: unknown, model: Model | undefined, found: Attribute[]): void {
    if (Array.isArray(value)) for (const one of value) this.filters(one, model, found);
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        const attribute = joined(model, name);
        if (attribute) found.push(attribute);
        this.filters(inner, attribute ? this.target(attribute) : model, found);
      }
  }

  private sort(value: unknown, model: Model | undefined, found: Attribute[]): void {
    if (typeof value === 'string')
      for (const path of pathsIn(value)) this.walk(path, model, (attribute) => found.push(attribute));
    else this.filters(value, model, found);
  }

  /** Follows a path of attributes; ends at the first that is not stored in another table. */
  private walk(path: readonly string[], model: Model | undefined, visit: (attribute: Attribute) => void): void {
    let at = model;
    for (const name of path) {
      const attribute = joined(at, name);
      if (!attribute) return;
      visit(attribute);
      at = this.target(attribute);
    }
  }

  private populate(value: unknown, model: Model | undefined, depth: number): void {
    if (typeof value === 'string') for (const path of pathsIn(value)) this.path(path, model, depth);
    else if (isObject(value))
      for (const [name, options] of Object.entries(value)) {
        const attribute = joined(model, name);
        this.take(1, depth + 1);
        this.options(options, attribute ? this.target(attribute) : undefined, depth + 1);
      }
  }

  private path(path: readonly string[], model: Model | undefined, depth: number): void {
    const isAll = path.length === 1 && path[0] === '*';
    const names = isAll ? Object.keys(model?.attributes ?? {}).filter((name) => joined(model, name)) : path;
    this.take(names.length, depth + (isAll ? 1 : path.length));
  }

  /** The options of one populated attribute: a level of its own; `on` has one for each component of a dynamic zone. */
  private options(options: unknown, model: Model | undefined, depth: number): void {
    if (options === '*') return this.populate('*', model, depth);
    if (!isObject(options)) return;
    this.level(options, model, depth);
    for (const [uid, inner] of Object.entries(isObject(options.on) ? options.on : {})) {
      this.take(1, depth);
      this.options(inner, this.models(uid), depth);
    }
  }

  private take(count: number, depth: number): void {
    this.populated += count;
    if (depth > MAX_COST.levels) refuse(`"populate" has more than ${MAX_COST.levels} levels.`);
    if (this.populated > MAX_COST.populated) refuse(`"populate" has more than ${MAX_COST.populated} names.`);
  }
}

/**
 * Refuses a query whose cost grows with every combination of related entries; BadRequestError with the limit. Names that the
 * type does not have count where they could be populated, and are refused by Strapi.
 * @param query checked for its size (`params.ts`)  @param models schemas of content types and components by their uid
 */
export function checkQueryCost(
  query: DocumentQuery,
  schema: Schema.ContentType,
  models: (uid: string) => unknown,
): void {
  new QueryCost(models as Models).level(query, schema as unknown as Model, 0);
}

/** Limits of the number of documents that a query returns. */
export interface PageLimits {
  /** For queries without a `limit`. */
  defaultLimit: number;
  /** Replaces larger or negative values of `limit`. */
  maxLimit: number;
}

/**
 * Limits of parameters, so that a call blocks the server for some hundredths of a second at most: Strapi and the database
 * traverse all of them repeatedly (measured by benchmarks/content-queries.mjs). Each object of a query becomes a condition, each
 * entry of `sort` another comparison of every row. What relations cost is bounded by `MAX_COST`.
 */
export const MAX = {
  /** `filters`, `sort`, `fields` and `populate` together. */
  query: {
    objects: 100,
    values: 250,
    text: 10_000,
    depth: 20,
  },
  data: { objects: 2_500, values: 10_000, text: 1_000_000, depth: 50 },
  /** Names in lists, in objects and in texts with commas. */
  names: {
    sort: 5,
    fields: 100,
    populate: 50,
  },
};
const LOCALE = /^(\*|[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*)$/;

const isText = (value: Json): boolean => typeof value === 'string';
const isWhole = (value: Json, min: number): boolean => Number.isSafeInteger(value) && (value as number) >= min;
const isListOf = (value: Json, check: (entry: Json) => boolean): boolean => Array.isArray(value) && value.every(check);

/** Each parameter with its check and the description of valid values for the error message. */
const checks: Record<string, [check: (value: Json) => boolean, expected: string]> = {
  documentId: [(value) => typeof value === 'string' && /^[^\u0000-\u001f]{1,255}$/.test(value), 'a document id'],
  data: [isItems, 'an object'],
  filters: [(value) => isItems(value) || isListOf(value, isItems), 'an object or a list of objects'],
  sort: [
    (value) => isText(value) || isItems(value) || isListOf(value, (entry) => isText(entry) || isItems(entry)),
    'a string, an object or a list of them',
  ],
  fields: [(value) => isText(value) || isListOf(value, isText), 'a string or a list of strings'],
  populate: [
    (value) => isText(value) || isItems(value) || isListOf(value, isText),
    'a string, a list of strings or an object',
  ],
  pagination: [isItems, 'an object'],
  page: [(value) => isWhole(value, 1), 'a whole number from 1'],
  pageSize: [(value) => isWhole(value, 1), 'a whole number from 1'],
  start: [(value) => isWhole(value, 0), 'a whole number from 0'],
  limit: [(value) => isWhole(value, -1), 'a whole number'],
  locale: [(value) => typeof value === 'string' && value.length <= 35 && LOCALE.test(value), 'a locale code'],
  status: [(value) => value === 'draft' || value === 'published', "'draft' or 'published'"],
};

interface Size {
  objects: number;
  values: number;
  text: number;
  /** Nesting of objects and lists. */
  depth: number;
}

/**
 * Refuses a value that is nested too deeply, is larger than what is left of the limits, or would set a prototype.
 * @param left what earlier values have left; reduced by this one
 */
function checkShape(name: string, given: Json, max: Size, left: Omit<Size, 'depth'>): void {
  const take = (kind: keyof typeof left, count: number) => {
    left[kind] -= count;
    if (left[kind] >= 0) return;
    const what = { objects: 'objects', values: 'values', text: 'characters' }[kind];
    const where = max === MAX.query ? 'The query' : `The parameter "${name}"`;
    refuse(`${where} has more than ${max[kind]} ${what}.`);
  };
  const visit = (value: Json, depth: number): void => {
    if (typeof value === 'string') take('text', value.length);
    if (typeof value !== 'object' || value === null) return take('values', 1);
    if (depth > max.depth) refuse(`The parameter "${name}" is nested more than ${max.depth} levels deep.`);
    if (Array.isArray(value)) {
      for (const entry of value) visit(entry, depth + 1);
      return;
    }
    if (Object.hasOwn(value, '__proto__')) refuse('The parameters contain the key "__proto__".');
    take('objects', 1);
    for (const [key, entry] of Object.entries(value)) {
      take('text', key.length);
      visit(entry, depth + 1);
    }
  };
  visit(given, 0);
}

/** Refuses more names than are useful, in any syntax. */
function checkNames(name: keyof typeof MAX.names, given: Json): void {
  const namesIn = (value: Json): string[] => {
    if (typeof value === 'string') return value.split(',');
    if (typeof value !== 'object' || value === null) return [];
    const entries = Object.values(value).flatMap(namesIn);
    return Array.isArray(value) ? entries : [...Object.keys(value), ...entries];
  };
  const names = namesIn(given);
  if (names.length > MAX.names[name]) refuse(`The parameter "${name}" has more than ${MAX.names[name]} names.`);
  const { depth } = MAX.query;
  const isDeep = (text: string) => text.split('.', depth + 1).length > depth;
  if (names.some(isDeep)) refuse(`The parameter "${name}" has a name of more than ${depth} parts.`);
}

function checkKeys(values: Items, allowed: readonly string[], location: string): void {
  for (const [key, value] of Object.entries(values)) {
    if (!allowed.includes(key)) {
      refuse(`Unknown parameter "${key}" of ${location}; it takes ${allowed.join(', ') || 'none'}.`);
    }
    const [check, expected] = checks[key] ?? [() => false, 'left out'];
    if (value !== null && !check(value)) refuse(`The parameter "${key}" of ${location} must be ${expected}.`);
  }
}

const PAGING = ['page', 'pageSize', 'start', 'limit'];

/** Converts `pagination: {page, pageSize}`, `pagination: {start, limit}` or bare `start` and `limit` to start and limit. */
function pageOf(params: Items, limits: PageLimits, location: string): CallParams['page'] {
  const pagination = (params.pagination ?? {}) as Items;
  checkKeys(pagination, PAGING, `${location}'s pagination`);
  const given = { start: params.start, limit: params.limit, ...pagination } as Record<
    string,
    number | null | undefined
  >;
  const capped = (wanted: number): number => (wanted < 0 || wanted > limits.maxLimit ? limits.maxLimit : wanted);
  if (given.page != null || given.pageSize != null) {
    const limit = capped(given.pageSize ?? limits.defaultLimit);
    return { start: ((given.page ?? 1) - 1) * limit, limit };
  }
  const limit = capped(given.limit ?? limits.defaultLimit);
  return { start: given.start ?? 0, limit };
}

/**
 * Checks a call's parameters for names, types, nesting and size; null counts as missing. Strapi checks them against the
 * content type later.
 * @param allowed names of accepted parameters
 * @param required names of required parameters
 */
export function readParams(
  params: Items,
  {
    method,
    allowed,
    required,
    limits,
  }: { method: string; allowed: readonly string[]; required: readonly string[]; limits: PageLimits },
): CallParams {
  const location = `${method}()`;
  if (!isItems(params)) refuse(`${location} takes an object of parameters.`);
  const left = { ...MAX.query };
  for (const [name, value] of Object.entries(params)) {
    if (name === 'data') checkShape(name, value, MAX.data, { ...MAX.data });
    else checkShape(name, value, MAX.query, left);
    if (Object.hasOwn(MAX.names, name)) checkNames(name as keyof typeof MAX.names, value);
  }
  checkKeys(params, allowed, location);
  for (const name of required) if (params[name] == null) refuse(`${location} needs the parameter "${name}".`);
  const query: DocumentQuery = {};
  for (const name of ['filters', 'sort', 'fields', 'populate'] as const) {
    if (params[name] != null) query[name] = params[name];
  }
  return {
    query,
    documentId: (params.documentId ?? '') as string,
    data: (params.data ?? {}) as Items,
    ...(params.locale == null ? {} : { locale: params.locale as string }),
    status: (params.status ?? 'published') as CallParams['status'],
    page: pageOf(params, limits, location),
  };
}
