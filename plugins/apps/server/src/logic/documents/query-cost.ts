import type { Schema } from '@strapi/strapi';
import { AppsError } from '../../common/errors';
import type { DocumentQuery } from './types';

/**
 * What a query may join. Strapi joins the tables of each relation in `filters` and `sort` once more for each condition: with
 * lists, the database looks through every combination of their entries, so that the third list multiplies the time by the
 * length of one. Each populated attribute is another statement, for all entries of the level above.
 */
export const MAX = {
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
    if (sorted.filter(isList).length > MAX.sortedLists)
      refuse(`"sort" uses lists of relations or components more than ${MAX.sortedLists} time.`);
    const found = [...sorted];
    this.filters(filters, model, found);
    const lists = found.filter(isList).length;
    if (lists > MAX.lists)
      refuse(`"filters" and "sort" use lists of relations or components ${lists} times, ${MAX.lists} at most.`);
    if (found.length > MAX.relations)
      refuse(`"filters" and "sort" use relations ${found.length} times, ${MAX.relations} at most.`);
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
    if (depth > MAX.levels) refuse(`"populate" has more than ${MAX.levels} levels.`);
    if (this.populated > MAX.populated) refuse(`"populate" has more than ${MAX.populated} names.`);
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
