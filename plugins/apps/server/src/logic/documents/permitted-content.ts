import type { Core } from '@strapi/strapi';
import { AppsError } from '../../common/errors';
import type { DocumentQuery } from './access';

/** A permission of an administrator's roles. Its fields are paths; without them it is for all. */
interface Rule {
  fields?: readonly string[];
  conditions?: object;
}

/** What an administrator may do, by the Content Manager's actions. */
interface Ability {
  readonly rules: readonly Rule[];
  can(action: string, subject: unknown): boolean;
  rulesFor(action: string, uid: string): readonly Rule[];
}

/** The rules that the Content Manager applies to an administrator. */
export interface PermissionsManager {
  getQuery(action: string): object | null | undefined;
  validateQuery(query: object, options: object): Promise<unknown>;
  sanitizeQuery(query: object, options: object): Promise<DocumentQuery>;
  validateInput(data: object, options: object): Promise<unknown>;
  sanitizeOutput(data: object, options: object): Promise<unknown>;
  toSubject(row: object, uid: string): object;
}

const READ = 'plugin::content-manager.explorer.read';

interface Attribute {
  type: string;
  target?: string;
  component?: string;
}

interface Model {
  uid: string;
  attributes: Record<string, Attribute>;
}

/** The part of Strapi's service of content types that is used here. */
interface NestedFields {
  getNestedFields(model: unknown, options: object): string[];
}

type Entry = Record<string, unknown>;

interface Populate {
  [name: string]: { populate: Populate };
}

const isObject = (value: unknown): value is Entry => typeof value === 'object' && value !== null;

/** Whether a list of paths has a field, by itself or with all that it is a part of. */
const covers = (fields: readonly string[], field: string): boolean =>
  fields.some((one) => one === field || field.startsWith(`${one}.`));

const hasConditions = ({ conditions }: Rule): boolean => conditions !== undefined && Object.keys(conditions).length > 0;

/**
 * Whether a condition holds in each of these locales: Strapi's internationalization adds one to each permission for a localized type, also
 * where the role has all of them.
 */
function holdsInAll(conditions: object | undefined, locales: readonly string[]): boolean {
  const [[operator, parts] = [], ...more] = Object.entries(conditions ?? {});
  if (operator !== '$and' || !Array.isArray(parts) || more.length > 0 || locales.length === 0) return false;
  return parts.every((part: { locale?: { $in?: unknown } }) => {
    const some = Object.keys(part).join() === 'locale' ? part.locale?.$in : null;
    return Array.isArray(some) && locales.every((code) => some.includes(code));
  });
}

/** What `populate` gives for a relation with `count: true`, in place of its documents. */
const isCount = (value: object): boolean => 'count' in value && !('id' in value);

/**
 * What the Content Manager's permissions leave of content for one administrator. With several roles they may differ from document to
 * document, and those of a populated document are those of its own type.
 */
export class PermittedContent {
  private readonly managers = new Map<string, PermissionsManager>();
  /** The host's locales; none where no permission has a condition. */
  private locales: readonly string[] | undefined;
  /** Rows of entries with what conditions look at, by type and id. */
  private readonly rows = new Map<string, ReadonlyMap<unknown, object>>();

  constructor(
    private readonly strapi: Core.Strapi,
    private readonly ability: Ability,
  ) {}

  private async readLocales(): Promise<void> {
    if (this.locales || !this.ability.rules.some(hasConditions)) return;
    const all: { code: string }[] = (await this.strapi.plugin('i18n')?.service('locales').find()) ?? [];
    this.locales = all.map(({ code }) => code);
  }

  private isConditional(rule: Rule): boolean {
    return hasConditions(rule) && !holdsInAll(rule.conditions, this.locales ?? []);
  }

  managerOf(uid: string): PermissionsManager {
    const options = { ability: this.ability, action: READ, model: uid };
    const manager: PermissionsManager =
      this.managers.get(uid) ?? this.strapi.service('admin::permission').createPermissionsManager(options);
    this.managers.set(uid, manager);
    return manager;
  }

  /** All fields of a type that permissions name. */
  private fieldsOf(uid: string): readonly string[] {
    const service = this.strapi.service('admin::content-type') as unknown as NestedFields;
    return service.getNestedFields(this.model(uid), { components: this.strapi.components });
  }

  private model(uid: string): Model | undefined {
    return this.strapi.getModel(uid as never) as unknown as Model | undefined;
  }

  /** The type or component that an attribute leads to. */
  private targetOf(model: Model | undefined, name: string): Model | undefined {
    const { target, component } = (model && Object.hasOwn(model.attributes, name) && model.attributes[name]) || {};
    const uid = target ?? component;
    return uid === undefined ? undefined : this.model(uid);
  }

  private rules(action: string, uid: string): readonly Rule[] {
    return this.ability.rulesFor(action, uid);
  }

  /** Whether fields are permitted for some of the documents only that an action is permitted for. */
  private differs(action: string, uid: string): boolean {
    const rules = this.rules(action, uid);
    return rules.length > 1 && rules.some((rule) => this.isConditional(rule));
  }

  /**
   * The fields that may be read of each document of a type. @param narrowed whether only documents are meant that may be read
   */
  private certain(uid: string, narrowed: boolean): readonly string[] {
    const rules = this.rules(READ, uid);
    const fields = ({ fields }: Rule) => fields ?? this.fieldsOf(uid);
    const always = rules.filter((rule) => !this.isConditional(rule));
    if (always.length > 0 || !narrowed) return always.flatMap(fields);
    return this.fieldsOf(uid).filter((field) => rules.every((rule) => covers(fields(rule), field)));
  }

  /**
   * BadRequestError for a query that would tell by what it finds, or by its order, what the administrator may not read: of the type
   * itself, and of those to which `filters` and `sort` lead.
   */
  async requireQuery(uid: string, query: DocumentQuery): Promise<void> {
    await this.readLocales();
    const root = this.model(uid);
    const certain = this.differs(READ, uid) ? this.certain(uid, true) : this.fieldsOf(uid);
    const partsOf = (name: string) => this.fieldsOf(uid).filter((field) => covers([name], field));
    const isCertain = (name: string) => partsOf(name).every((field) => covers(certain, field));
    const visit: Visit = (model, name, param) => {
      const target = this.targetOf(model, name);
      if ((model !== root || isCertain(name)) && (!target || this.isOpen(target.uid))) return target;
      throw new AppsError('BadRequestError', `"${name}" cannot be used in ${param}.`);
    };
    const targetOf = (model: Model | undefined, name: string) => this.targetOf(model, name);
    new QueryWalk({ visit, targetOf, modelOf: (name) => this.model(name) }).level(query, root);
  }

  /** Whether all of a type may be read; of a component it is asked with the type that has it. */
  private isOpen(uid: string): boolean {
    if (this.rules(READ, uid).length === 0) return true;
    const open = this.certain(uid, false);
    return this.fieldsOf(uid).every((field) => covers(open, field));
  }

  /** What the administrator may read of entries that they may read. */
  async output(uid: string, entries: unknown): Promise<unknown> {
    await this.readLocales();
    const list = [entries].flat().filter(isObject);
    const differs = this.differs(READ, uid);
    // Those of a type are read together, however many documents populate them.
    const found = new Map<string, Entry[]>(differs ? [[uid, [...list]]] : []);
    for (const entry of list) this.collect(entry, this.model(uid), found);
    for (const [type, some] of found) this.rows.set(type, await this.rowsOf(type, some, READ));
    return this.permitted(uid, entries, differs, false);
  }

  /** Adds the entries whose permissions depend on their rows, of all that an entry or a component populates, by their types. */
  private collect(entry: Entry, model: Model | undefined, found: Map<string, Entry[]>): void {
    for (const [name, { type, target, component }] of Object.entries(model?.attributes ?? {})) {
      if (!isObject(entry[name]) || !['relation', 'component', 'dynamiczone'].includes(type)) continue;
      for (const one of [entry[name]].flat().filter(isObject)) {
        const uid = target ?? component ?? String(one.__component ?? one.__type);
        if (type === 'relation' && !isCount(one) && this.isByRow(uid)) add(found, uid, one);
        this.collect(one, this.model(uid), found);
      }
    }
  }

  /** Whether it depends on a document of a type what may be read of it. */
  private isByRow(uid: string): boolean {
    return this.rules(READ, uid).some((rule) => this.isConditional(rule));
  }

  /** ValidationError of Strapi unless they may change these fields of a document. @param draft what is stored of it */
  async requireChange(uid: string, data: object, draft: () => Promise<object | null>): Promise<void> {
    const action = 'plugin::content-manager.explorer.update';
    await this.readLocales();
    if (!this.differs(action, uid)) return;
    const stored = await draft();
    const rows = await this.rowsOf(uid, stored ? [stored as Entry] : [], action);
    const row = rows.get((stored as Entry | null)?.id) ?? {};
    const manager = this.managerOf(uid);
    await manager.validateInput({ ...data }, { subject: manager.toSubject(row, uid), action });
  }

  /**
   * @param byRow whether permissions are decided for each entry by itself
   * @param isPopulated whether the entries may be ones that the administrator may not read: these are left out
   */
  private async permitted(uid: string, value: unknown, byRow: boolean, isPopulated: boolean): Promise<object | null> {
    const list = [value].flat().filter(isObject);
    const manager = this.managerOf(uid);
    const rows = byRow ? (this.rows.get(uid) ?? new Map<unknown, object>()) : null;
    const kept: object[] = [];
    for (const entry of list) {
      const subject = rows ? manager.toSubject(rows.get(entry.id) ?? {}, uid) : uid;
      if (isPopulated && !this.ability.can(READ, subject)) continue;
      const fields = (await manager.sanitizeOutput(entry, { subject, action: READ })) as Entry;
      kept.push(await this.withPopulated(fields, this.model(uid)));
    }
    return Array.isArray(value) ? kept : (kept[0] ?? null);
  }

  /** An entry, or a component, with what may be read of the documents that it populates. */
  private async withPopulated(entry: Entry, model: Model | undefined): Promise<Entry> {
    const result = { ...entry };
    for (const [name, attribute] of Object.entries(model?.attributes ?? {}))
      if (isObject(entry[name])) result[name] = await this.ofAttribute(attribute, entry[name]);
    return result;
  }

  private async ofAttribute({ type, target, component }: Attribute, value: object): Promise<unknown> {
    if (type === 'component' || type === 'dynamiczone')
      return each(value, (one) => this.withPopulated(one, this.model(component ?? String(one.__component))));
    if (type !== 'relation') return value;
    // A relation to any type says of which one an entry is.
    if (target === undefined)
      return each(value, async ({ __type, ...one }) => {
        const shown = await this.populated(String(__type), one);
        return shown && { ...shown, __type };
      });
    if (isCount(value)) return this.isOpen(target) ? value : null;
    return this.populated(target, value);
  }

  private async populated(uid: string, value: object): Promise<object | null> {
    if (this.rules(READ, uid).length === 0) return value;
    return this.permitted(uid, value, this.isByRow(uid), true);
  }

  /** Rows of entries by their id, with what conditions look at. */
  private async rowsOf(uid: string, entries: readonly Entry[], action: string): Promise<Map<unknown, object>> {
    const populate: Populate = {};
    for (const { conditions } of this.rules(action, uid)) this.addPopulate(populate, conditions, this.model(uid));
    const where = { id: { $in: entries.map(({ id }) => id) } };
    const rows: Entry[] = await this.strapi.db.query(uid as never).findMany({ where, populate });
    return new Map(rows.map((row) => [row.id, row]));
  }

  private addPopulate(populate: Populate, conditions: unknown, model: Model | undefined): void {
    if (Array.isArray(conditions)) for (const one of conditions) this.addPopulate(populate, one, model);
    else if (isObject(conditions))
      for (const [path, inner] of Object.entries(conditions)) {
        let [at, of] = [populate, model];
        for (const name of path.startsWith('$') ? [] : path.split('.')) {
          const target = this.targetOf(of, name);
          if (!target) break;
          at[name] ??= { populate: {} };
          [at, of] = [at[name].populate, target];
        }
        this.addPopulate(at, inner, of);
      }
  }
}

function add(lists: Map<string, Entry[]>, key: string, entry: Entry): void {
  const list = lists.get(key);
  if (list) list.push(entry);
  else lists.set(key, [entry]);
}

/** Applies `work` to an object, or to each of a list; null leaves it out. */
async function each(value: object, work: (one: Entry) => Promise<object | null>): Promise<object | null> {
  if (!Array.isArray(value)) return work(value as Entry);
  const results: object[] = [];
  for (const one of value.filter(isObject)) {
    const result = await work(one);
    if (result) results.push(result);
  }
  return results;
}

/** Called for each name by which a query filters or sorts; gives the type or component to which it leads. */
type Visit = (model: Model | undefined, name: string, param: string) => Model | undefined;

interface WalkTools {
  visit: Visit;
  targetOf(model: Model | undefined, name: string): Model | undefined;
  modelOf(uid: string): Model | undefined;
}

/** Finds the names by which a query, and all that it populates, filters and sorts. */
class QueryWalk {
  constructor(private readonly tools: WalkTools) {}

  level({ filters, sort, populate }: DocumentQuery, model: Model | undefined): void {
    this.names(filters, model, 'filters');
    for (const one of [sort].flat()) this.sort(one, model);
    if (isObject(populate))
      for (const [name, options] of Object.entries(populate)) this.populated(name, options, model);
  }

  private names(value: unknown, model: Model | undefined, param: string): void {
    if (Array.isArray(value)) for (const one of value) this.names(one, model, param);
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value))
        this.names(inner, this.tools.visit(model, name, param) ?? model, param);
  }

  private sort(value: unknown, model: Model | undefined): void {
    if (typeof value !== 'string') return this.names(value, model, 'sort');
    for (const path of value.split(',')) {
      const names = path.trim().replace(/:\w+$/, '').split('.');
      this.names(
        names.reduceRight<object>((inner, name) => ({ [name]: inner }), {}),
        model,
        'sort',
      );
    }
  }

  /** The options of one populated attribute; `on` has some for each component of a dynamic zone. */
  private populated(name: string, options: unknown, model: Model | undefined): void {
    if (!isObject(options)) return;
    for (const param of ['filters', 'sort']) if (options[param] !== undefined) this.tools.visit(model, name, param);
    this.level(options, this.tools.targetOf(model, name));
    for (const [component, inner] of Object.entries(isObject(options.on) ? options.on : {}))
      if (isObject(inner)) this.level(inner, this.tools.modelOf(component));
  }
}
