import type { Core } from '@strapi/strapi';

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
