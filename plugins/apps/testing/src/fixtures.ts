import type { Core } from '@strapi/strapi';
import type { ContentFixtures, Items, User } from '../index';
import type { TestTools } from './plugin';

/** The host's content: fixtures of a test, and the return to the content that the host's start has made. */
export interface Content extends ContentFixtures {
  /** Remembers what there is. Before the first test. */
  remember(): Promise<void>;
  /** Deletes all entries that were not there. */
  reset(): Promise<void>;
}

type Uid = 'plugin::users-permissions.role';

export function createContent(strapi: Core.Strapi, tools: TestTools, siteId: string): Content {
  const uids = Object.keys(strapi.contentTypes).filter((uid) => uid.startsWith('api::'));
  const first = new Map<string, number[]>();
  const query = (uid: string) => strapi.db.query(uid as Uid);
  const ids = async (uid: string) =>
    (await query(uid).findMany({ select: ['id'] })).map(({ id }: { id: number }) => id);

  return {
    async remember() {
      for (const uid of uids) first.set(uid, await ids(uid));
    },
    async reset() {
      for (const uid of uids) {
        const known = new Set(first.get(uid));
        const more = (await ids(uid)).filter((id) => !known.has(id));
        if (more.length > 0) await query(uid).deleteMany({ where: { id: { $in: more } } });
      }
    },
    async create(type, fields, { locale, draft = false } = {}) {
      if (!uids.includes(type)) {
        throw new Error(`This host has no content type "${type}". It has: ${uids.join(', ') || 'none'}`);
      }
      const contentType = strapi.contentTypes[type as Uid];
      const publish = contentType?.options?.draftAndPublish === true && !draft;
      const made = await strapi
        .documents(type as Uid)
        .create({ data: fields as never, ...(locale && { locale }), ...(publish && { status: 'published' }) } as never)
        .catch((error: Error) => {
          throw new Error(`app.content.create('${type}'): ${problemOf(error)}`);
        });
      const { documentId } = made as { documentId: string };
      return { ...(made as Items), documentId, path: await tools.pathOf(siteId, type, documentId, locale) };
    },
  };
}

/** Strapi's validation errors name the fields in `details`. */
function problemOf(error: Error & { details?: { errors?: { path: string[]; message: string }[] } }): string {
  const [first] = error.details?.errors ?? [];
  return first ? `${first.path.join('.')}: ${first.message}` : error.message;
}

const USER = 'plugin::users-permissions.user';
const ROLE = 'plugin::users-permissions.role';
const PERMISSION = 'plugin::users-permissions.permission';

const PASSWORD = 'Secret-of-tests-1';
/** Its hash by bcrypt with the lowest cost: users log in often, and Strapi's cost of 10 takes most of a test's time. */
const HASH = '$2a$04$1kigCbaQOHCe4dkAm.vNXeGRaN5VTMjLTTR.zRlExvvNOfMcDEU3q';

/** Users and groups of users-permissions, made when a test needs them; they stay until the host ends. */
export interface People {
  /** Lets every role read the host's content, as on a public site. Before the first test. */
  openContent(): Promise<void>;
  /** Makes the user, and the group, if there are none, and puts the user into the group. */
  ensure(user: User): Promise<{ username: string; password: string; identity: string }>;
  /** Takes from groups what tests have given them. */
  reset(): Promise<void>;
}

export function createPeople(strapi: Core.Strapi): People {
  const readActions = Object.keys(strapi.contentTypes)
    .filter((uid) => uid.startsWith('api::'))
    .flatMap((uid) => [`${uid}.find`, `${uid}.findOne`]);
  const query = (uid: string) => strapi.db.query(uid as typeof ROLE);
  /** Ids of permissions that tests have added. */
  let added: number[] = [];

  const grant = async (role: number, actions: readonly string[]): Promise<number[]> => {
    const ids: number[] = [];
    for (const action of actions) {
      if (await query(PERMISSION).findOne({ where: { action, role } })) continue;
      ids.push((await query(PERMISSION).create({ data: { action, role } })).id);
    }
    return ids;
  };

  const roleOf = async (name: string): Promise<number> => {
    const known = await query(ROLE).findOne({ where: { name } });
    if (known) return known.id;
    const made = await query(ROLE).create({ data: { name, type: name.toLowerCase(), description: 'Made by tests' } });
    await grant(made.id, readActions);
    return made.id;
  };

  const add = async (username: string, role: number) => {
    const email = `${username}@apps.test`.toLowerCase();
    const account = { username, email, password: PASSWORD, provider: 'local', confirmed: true, blocked: false, role };
    const user = await strapi.plugin('users-permissions').service('user').add(account);
    await query(USER).update({ where: { id: user.id }, data: { password: HASH } });
    return user;
  };

  return {
    async openContent() {
      for (const { id } of await query(ROLE).findMany({})) await grant(id, readActions);
    },
    async ensure({ user: username, groups = [], permissions = [] }) {
      if (groups.length > 1)
        throw new Error(`app.as: Strapi gives a user one role, so "${username}" cannot be in ${groups.join(' and ')}`);
      const role = await roleOf(groups[0] ?? 'Authenticated');
      added.push(...(await grant(role, permissions)));
      const known = await query(USER).findOne({ where: { username }, populate: ['role'] });
      const user = known ?? (await add(username, role));
      const wrong = known && known.role?.id !== role;
      if (wrong) await query(USER).update({ where: { id: known.id }, data: { role } });
      return { username, password: PASSWORD, identity: `user:${user.documentId}` };
    },
    async reset() {
      if (added.length > 0) await query(PERMISSION).deleteMany({ where: { id: { $in: added } } });
      added = [];
    },
  };
}
