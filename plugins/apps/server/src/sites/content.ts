import type { Core } from '@strapi/strapi';
import type { Items, Json } from '../../../shared/json';
import type { Requester } from '../auth/types';
import { percentDecoded } from '../common/text';
import type { AppsConfig } from '../config.types';
import { encodeSegment, trimSlashes } from './addresses';
import type { ContentItem, ContentResolver, Site } from './types';

/** The properties of a content type with a content API that addresses depend on. */
export interface ContentTypeInfo {
  uid: string;
  kind: 'collectionType' | 'singleType';
  singularName: string;
  pluralName: string;
  attributes: { [name: string]: { type: string } };
}

/**
 * Reads one published item with the requester's own permissions, sanitised: by its documentId, by one field, or (with
 * neither) as the item of a single type. Null when there is none that they may read. `locale` applies to localized types;
 * null is the default one.
 */
export type ReadContent = (
  uid: string,
  where: { documentId?: string; slug?: { field: string; value: string } },
  requester: Requester,
  locale: string | null,
) => Promise<Items | null>;

interface Route {
  type: ContentTypeInfo;
  /** A fixed name, or `{ field }`. */
  parts: (string | { field: string })[];
}

interface ContentOptions {
  config: Pick<AppsConfig, 'content'>;
  contentTypes(): ContentTypeInfo[];
  readContent: ReadContent;
  /** All sites, in the order of the configuration. */
  sites(): Promise<Site[]>;
}

/** Content items by their addresses, and addresses of content items (docs/reference/addresses.md#content-paths). */
export function createContent({ config, contentTypes, readContent, sites }: ContentOptions): ContentResolver {
  const routesOf = (): Route[] => contentTypes().flatMap((type) => routesOfType(type, config.content[type.uid]?.path));

  async function resolve(site: Site, contentPath: string, requester: Requester): Promise<ContentItem | null> {
    const names = trimSlashes(contentPath)
      .split('/')
      .map((segment) => percentDecoded(segment) ?? segment);
    if (names.length === 1 && names[0] === '') return portalItem(site);
    for (const { type, values } of matches(routesOf(), names)) {
      const fields = await readContent(type.uid, whereOf(values), requester, site.locale);
      if (fields && agrees(fields, values)) return itemOf(site.url, type, fields, routesOf());
    }
    return null;
  }

  /** URL of the site that has an item: this one if it is in the item's locale, else the first that is; null if none is. */
  async function rootOf(site: Site, fields: Items): Promise<string | null> {
    const locale = localeOf(fields);
    if (locale === null || site.locale === null || locale === site.locale) return site.url;
    return (await sites()).find((one) => one.locale === locale)?.url ?? null;
  }

  const find: ContentResolver['find'] = async (site, { uid, documentId, locale }, requester) => {
    if (!contentTypes().some((known) => known.uid === uid)) return null;
    const fields = await readContent(uid, { documentId }, requester, locale ?? site.locale);
    return fields && describe(site, uid, fields, { draft: false });
  };

  const describe: ContentResolver['describe'] = async (site, uid, fields, { draft }) => {
    const type = contentTypes().find((known) => known.uid === uid);
    return type ? { ...itemOf(await rootOf(site, fields), type, fields, routesOf()), draft } : null;
  };

  function typeNamed(name: string): ContentTypeInfo | undefined {
    const wanted = name.toLowerCase();
    return contentTypes().find(({ uid, singularName, pluralName }) =>
      [uid, singularName, pluralName].some((known) => known.toLowerCase() === wanted),
    );
  }

  return { resolve, find, describe, typeNamed };
}

/** Messages about content types and fields that the configuration of addresses names and the host does not have. */
export function contentProblems(content: AppsConfig['content'], types: readonly ContentTypeInfo[]): string[] {
  return Object.entries(content).flatMap(([uid, { path }]) => {
    const type = types.find((one) => one.uid === uid);
    if (!type)
      return [`'content' names the unknown content type '${uid}' (known: ${names(types.map((one) => one.uid))})`];
    const fields = [...Object.keys(type.attributes), 'id', 'documentId'];
    const [configured] = routesOfType(type, path);
    const unknown = (configured?.parts ?? []).filter(
      (part) => typeof part !== 'string' && !fields.includes(part.field),
    );
    return (unknown as { field: string }[]).map(
      ({ field }) => `'content.${uid}.path' names the unknown field '${field}' (known: ${names(fields)})`,
    );
  });
}

const names = (list: readonly string[]) => list.join(', ') || 'none';

/** The site itself as the current content item. */
function portalItem({ id, title, url }: Site): ContentItem {
  return { type: 'portal', id, documentId: null, title, url, path: '/', fields: {}, locale: null, draft: false };
}

/**
 * The ways to address items of a type: the configured pattern or the default one; and `/<plural name>/<documentId>`
 * always, so that an item whose slug is empty has an address too.
 */
function routesOfType(type: ContentTypeInfo, configured: string | undefined): Route[] {
  if (type.kind === 'singleType') {
    return [{ type, parts: configured ? partsOf(configured) : [type.singularName] }];
  }
  const uid = uidAttribute(type);
  const own = configured ?? (uid ? `/${type.pluralName}/:${uid}` : undefined);
  const byId: Route = { type, parts: [type.pluralName, { field: 'documentId' }] };
  return own ? [{ type, parts: partsOf(own, uid) }, byId] : [byId];
}

/** The attribute that names an item of the type in its address, if it has one. */
export function uidAttribute({ attributes }: ContentTypeInfo): string | undefined {
  return Object.keys(attributes).find((name) => attributes[name]?.type === 'uid');
}

/** `/articles/:slug` in parts. `:slug` is the type's uid attribute, or without one the attribute `slug`. */
function partsOf(pattern: string, uid?: string): Route['parts'] {
  const names = trimSlashes(pattern).split('/');
  return names.map((name) =>
    name.startsWith(':') ? { field: name === ':slug' ? (uid ?? 'slug') : name.slice(1) } : name,
  );
}

interface Match {
  type: ContentTypeInfo;
  /** What the path says about the item's fields. */
  values: [field: string, value: string][];
}

/** Routes that fit a path, those with more fixed names first. */
function matches(routes: Route[], names: string[]): Match[] {
  return routes
    .filter(({ parts }) => parts.length === names.length)
    .filter(({ parts }) => parts.every((part, index) => typeof part !== 'string' || part === names[index]))
    .sort((a, b) => fixed(b) - fixed(a))
    .map(({ type, parts }) => ({
      type,
      values: parts.flatMap((part, index): Match['values'] =>
        typeof part === 'string' ? [] : [[part.field, names[index] as string]],
      ),
    }))
    .filter(({ values }) => values.every(([, value]) => value !== '' && !/\p{Cc}/u.test(value)));
}

function fixed({ parts }: Route): number {
  return parts.filter((part) => typeof part === 'string').length;
}

/** The last field of an address names the item; those before it only have to match. */
function whereOf(values: Match['values']): Parameters<ReadContent>[1] {
  const [field, value] = values.at(-1) ?? [];
  if (field === undefined || value === undefined) return {};
  return field === 'documentId' ? { documentId: value } : { slug: { field, value } };
}

function agrees(fields: Items, values: Match['values']): boolean {
  return values.every(([field, value]) => textOf(fields[field]) === value);
}

/** Items of types that are not localized have none. */
function localeOf({ locale }: Items): string | null {
  return typeof locale === 'string' ? locale : null;
}

/** @param root URL of the site with the item, null if no site has the item */
function itemOf(root: string | null, type: ContentTypeInfo, fields: Items, routes: Route[]): ContentItem {
  const documentId = typeof fields.documentId === 'string' ? fields.documentId : null;
  const path = pathOf(
    fields,
    routes.filter((route) => route.type.uid === type.uid),
  );
  return {
    type: type.uid,
    id: textOf(fields.id) ?? documentId ?? '',
    documentId,
    title: textOf(fields.title) ?? textOf(fields.name) ?? documentId ?? type.singularName,
    url: root === null ? null : `${root}${path}`,
    path,
    fields,
    locale: localeOf(fields),
    draft: false,
  };
}

/** The first of the type's addresses that the item's fields can fill in. */
function pathOf(fields: Items, routes: Route[]): string {
  for (const { parts } of routes) {
    const names = parts.map((part) => (typeof part === 'string' ? part : textOf(fields[part.field])));
    if (names.every((name) => name)) return `/${names.map((name) => encodeSegment(name as string)).join('/')}`;
  }
  return '/';
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

interface Attribute {
  type: string;
  /** Of a relation; of a component. */
  target?: string;
  component?: string;
  components?: readonly string[];
}

interface Model {
  attributes: { [name: string]: Attribute };
}

/** The types that an attribute leads to. */
function targetsOf({ type, target, component, components = [] }: Attribute): readonly string[] {
  if (type === 'media') return ['plugin::upload.file'];
  if (type === 'relation') return target ? [target] : [];
  return component ? [component] : components;
}

/** Whether a relation may lead to any type. */
const leadsAnywhere = ({ type, target }: Attribute): boolean => type === 'relation' && target === undefined;

/** What a file belongs to. With it each type that has files would lead to all types: `namesOwnersOfFiles` finds the few reads of it. */
const OF_FILE = 'plugin::upload.file.related';

/** Whether a read asks for what its files belong to, which may be of any type. @param populate Strapi's parameter */
export function namesOwnersOfFiles(populate: unknown): boolean {
  if (populate === undefined || populate === '*') return false;
  const text = JSON.stringify(populate) ?? '';
  return text.includes('related') || text.includes('*');
}

/**
 * Makes a function that says which types may be read where one is read: itself, its components, the types of its relations and of
 * its files, and theirs. For null: all types that Strapi gives a content API, and theirs.
 */
export function relatedTypes(strapi: Core.Strapi): (uid: string | null) => readonly string[] {
  const known = new Map<string | null, readonly string[]>();
  const all = () => Object.keys(strapi.contentTypes).filter(isContent);

  const collect = (begin: readonly string[]): readonly string[] => {
    const models = { ...strapi.contentTypes, ...strapi.components } as unknown as { [uid: string]: Model };
    const found = new Set(begin);
    // A set may grow while it is read.
    for (const uid of found)
      for (const [name, attribute] of Object.entries(models[uid]?.attributes ?? {})) {
        const isAny = leadsAnywhere(attribute) && `${uid}.${name}` !== OF_FILE;
        for (const target of isAny ? all() : targetsOf(attribute)) found.add(target);
      }
    return [...found];
  };

  return (uid) => {
    const types = known.get(uid) ?? collect(uid === null ? all() : [uid]);
    known.set(uid, types);
    return types;
  };
}

const isContent = (uid: string): boolean => uid.startsWith('api::');
