import { randomBytes } from 'node:crypto';
import type { Items } from '../../../../shared/json';
import { objectsWith } from '../../common/request-objects';

import type { RequestData } from '../../logic/types';
import { namesOwnersOfFiles } from '../../sites';
import { escapeHtml } from '../elements';
import { queryAttribute } from '../run/context-data';
import { type Inputs, noteOriginal, observedRequester } from '../run/observed';
import type { AppServices, Visit } from '../run/types';
import type { Placeholders } from '../run/visit';
import type { App } from '../types';

const mark = (name: string) => `${name}-${randomBytes(18).toString('hex')}`;

/** Stands for what each visitor gets of their own in a kept rendering: the CSRF token … */
const TOKEN = mark('csrf');
/** … the mark of when a block's form was shown, with the ids of app and block in hexadecimal … */
const SHOWN = mark('shown');
/** … the moment at which live blocks were right … */
const SINCE = mark('since');
/** … the query of the request, which a rendering need not depend on: an attribute, to which balancing adds an empty value … */
const QUERY = ` ${mark('query')}`;
/** … and the task for a proof of work, with the id of the app. */
const CHALLENGE = mark('challenge');

const marks = new RegExp(
  `(${TOKEN})|(${SINCE})|(${QUERY}(?:="")?)|${SHOWN}-([0-9a-f]*)-([0-9a-f]*);|${CHALLENGE}-([0-9a-f]*);`,
  'g',
);

const hex = (text: string) => Buffer.from(text).toString('hex');
const text = (given = '') => Buffer.from(given, 'hex').toString();

/** What a rendering that is kept gets in place of what belongs to one visitor. */
export const placeholders: Placeholders = {
  liveSince: SINCE,
  shownQuery: QUERY,
  tokens: { issue: () => TOKEN, isIssued: () => false },
  forms: {
    shown: (app, block) => `${SHOWN}-${hex(app)}-${hex(block)};`,
    age: () => null,
    challenge: (app) => `${CHALLENGE}-${hex(app)};`,
  },
};

type OwnPart = (visit: Visit) => string;

/** A text with placeholders, split at them. */
export type Parts = readonly (string | OwnPart)[];

export function partsOf(whole: string): Parts {
  const parts: (string | OwnPart)[] = [];
  let end = 0;
  for (const { 0: found, 1: token, 2: since, 3: query, 4: app, 5: block, 6: asked, index } of whole.matchAll(marks)) {
    parts.push(whole.slice(end, index));
    if (token) parts.push((visit) => visit.csrfToken());
    // A kept rendering is right when the request begins that gets it.
    else if (since) parts.push(({ liveSince, begin }) => liveSince ?? begin?.since() ?? '');
    else if (query) parts.push(queryAttribute);
    else if (app !== undefined) parts.push(({ forms }) => forms?.shown(text(app), text(block)) ?? '');
    else parts.push(({ forms }) => escapeHtml(forms?.challenge(text(asked)) ?? ''));
    end = index + found.length;
  }
  parts.push(whole.slice(end));
  return parts;
}

/** The text for a visitor. */
export const filledIn = (parts: Parts, visit: Visit): string =>
  parts.length === 1
    ? (parts[0] as string)
    : parts.map((part) => (typeof part === 'string' ? part : part(visit))).join('');

/** Types behind the rights of a requester: each read of content depends on them. */
export const RIGHTS = ['plugin::users-permissions.permission', 'plugin::users-permissions.role'];
/** Where files of records and the accounts of creators are. */
const FILES = ['plugin::upload.file'];
const ACCOUNTS = ['plugin::users-permissions.user', 'admin::user', 'admin::api-token'];

/**
 * The visit of a rendering that may be kept: notes what is looked at, and has placeholders for what belongs to one visitor.
 * The sandbox gets the original data, and notes by itself what logic looks at (`originalOf`).
 */
export function observedVisit(visit: Visit, inputs: Inputs): Visit {
  const { visitor, requester, parentRequest } = visit;
  return visit.observed(placeholders, inputs, {
    requester: observedRequester(requester, ['identity', 'username', 'profile', 'auth'], inputs),
    request: () => observedRequest(visit.request, inputs, 'request'),
    parentRequest: parentRequest && observedRequest(parentRequest, inputs, 'parent_request'),
    visitor: visitor && noteOriginal(observedVisitor(visitor, inputs), visitor),
  });
}

function observedVisitor(visitor: NonNullable<Visit['visitor']>, inputs: Inputs): NonNullable<Visit['visitor']> {
  return {
    id() {
      inputs.look('visitor');
      return visitor.id();
    },
    begin() {
      inputs.beginsVisitor = true;
      visitor.begin();
    },
  };
}

interface Observed {
  request: RequestData;
  inputs: Inputs;
  /** What it is called in `x-apps-cache`. */
  name: string;
  groups: { [key: string]: object };
}

const part = (key: keyof RequestData) => (observed: Observed) => {
  observed.inputs.look(`${observed.name}.${key}`);
  return observed.request[key];
};

/** A part that is read by names. */
const group = (key: 'query' | 'form' | 'headers') => (observed: Observed) => {
  const { request, inputs, name, groups } = observed;
  groups[key] ??= observedItems(request[key], inputs, `${name}.${key}`);
  return groups[key];
};

const observedParts = objectsWith<Observed>({
  method: part('method'),
  url: part('url'),
  path: part('path'),
  query: group('query'),
  form: group('form'),
  body: part('body'),
  headers: group('headers'),
} satisfies { [key in keyof RequestData]: unknown });

const observedRequest = (request: RequestData, inputs: Inputs, name: string): RequestData =>
  noteOriginal(observedParts({ request, inputs, name, groups: {} }) as unknown as RequestData, request);

function observedItems(items: Items, inputs: Inputs, prefix: string): object {
  const look = (name: string | symbol) => typeof name === 'string' && inputs.look(`${prefix}.${name}`);
  return new Proxy(items, {
    get(target, name) {
      look(name);
      return Reflect.get(target, name);
    },
    has(target, name) {
      look(name);
      return Reflect.has(target, name);
    },
    getOwnPropertyDescriptor(target, name) {
      look(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    ownKeys(target) {
      inputs.look(prefix);
      return Reflect.ownKeys(target);
    },
  });
}

/** Differs for each state of an app's files and options. */
export const versionOf = (app: App | null): string | null =>
  app && [app.folder.themeId, app.revision, app.settings.debug, app.folder.options ?? ''].join(' ');

/** The services of a rendering that may be kept: what they read is noted. */
export function observedServices(services: AppServices, inputs: Inputs): AppServices {
  const { sites, files } = services;
  const { content } = sites;
  const readType = (uid: string) => inputs.readContent([...services.relatedTypes(uid), ...RIGHTS]);
  const readAnyType = () => inputs.readContent([...services.relatedTypes(null), ...RIGHTS]);
  return {
    ...services,
    async loadApp(site, id) {
      const app = await services.loadApp(site, id);
      inputs.check(`app ${id}`, versionOf(app), async () => versionOf(await services.loadApp(site, id)));
      return app;
    },
    creators(identities) {
      inputs.readContent(ACCOUNTS);
      return services.creators(identities);
    },
    documents(uid, method, params, ...rest) {
      if (namesOwnersOfFiles(params.populate)) readAnyType();
      readType(uid);
      return services.documents(uid, method, params, ...rest);
    },
    files: {
      ...files,
      addresses: {
        ...files.addresses,
        find(...args) {
          inputs.readContent(FILES);
          return files.addresses.find(...args);
        },
      },
    },
    sites: {
      ...sites,
      async theme(site) {
        const theme = await sites.theme(site);
        const revision = async () => (await sites.theme(site))?.revision ?? null;
        inputs.check('theme', theme?.revision ?? null, revision);
        return theme;
      },
      async assetVersion(file) {
        const version = await sites.assetVersion(file);
        inputs.check(`asset ${JSON.stringify(file)}`, version, () => sites.assetVersion(file));
        return version;
      },
      content: {
        ...content,
        resolve(...args) {
          readAnyType();
          return content.resolve(...args);
        },
        find(site, item, requester) {
          readType(item.uid);
          return content.find(site, item, requester);
        },
        describe(site, uid, ...rest) {
          readType(uid);
          return content.describe(site, uid, ...rest);
        },
      },
    },
  };
}
