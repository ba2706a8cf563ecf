import type { Items } from '../../../../shared/json';
import type { App } from '../../apps';
import { SESSION_COOKIE } from '../../auth';
import { type BlockSchemas, blockPaths, blockSchemas, type UniqueName } from './blocks';
import { headers, parameters, responses, schemas, securitySchemes } from './components';
import { answer, operation, security } from './operation';
import { recordPaths } from './records';

/** What a document describes. */
export interface Described {
  title: string;
  /** Absolute URL to which the ids of apps are added: `{base_url}/<site_id>/@@apps`. */
  url: string;
  /** Those with errors are left out. */
  apps: readonly App[];
}

/**
 * The OpenAPI 3.1 document of apps (docs/reference/openapi.md). Broken apps and blocks are left out. Depends on nothing but
 * its argument, so that equal files give equal documents.
 */
export function openApiDocument({ title, url, apps }: Described): Items {
  const [operations, names] = [uniqueNames(), uniqueNames()];
  const described = apps.filter(({ error }) => error === null).map((app) => describeApp(app, operations, names));
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description:
        'The JSON interface of apps. With the path of a content item before /@@apps, that item is the content of the request.',
    },
    servers: [{ url }],
    security: security(false),
    tags: described.map(({ id }) => ({ name: id })),
    paths: merged(described.map(({ paths }) => paths)),
    components: {
      schemas: { ...schemas, ...merged(described.map((one) => one.schemas)) },
      responses,
      parameters,
      headers,
      securitySchemes: securitySchemes(SESSION_COOKIE),
    },
  };
}

function describeApp(
  app: App,
  operations: UniqueName,
  names: UniqueName,
): { id: string; paths: Items; schemas: Items } {
  const blocks = [...app.blocks.values()].filter(({ error }) => error === null);
  const ofBlocks = blocks
    .map((block) => blockSchemas(app, block, names))
    .filter((found): found is BlockSchemas => found !== null);
  return {
    id: app.id,
    paths: {
      ...recordPaths(app, ofBlocks, operations),
      ...merged(blocks.map((block) => blockPaths(app, block, operations))),
      [`/${app.id}/openapi.json`]: {
        get: operation(app.id, {
          id: operations(app.id, 'openapi'),
          summary: 'The description of this app as an OpenAPI document; for managers',
          answers: { 200: answer('The document', { type: 'object' }) },
        }),
      },
    },
    schemas: merged(ofBlocks.map((one) => one.schemas)),
  };
}

const merged = (parts: readonly Items[]): Items => Object.fromEntries(parts.flatMap((part) => Object.entries(part)));

/** Joins parts with dots; ids may have dots too, so that a name that is taken gets a number. */
function uniqueNames(): UniqueName {
  const taken = new Set<string>();
  return (...parts) => {
    const wanted = parts.join('.');
    let name = wanted;
    for (let count = 2; taken.has(name); count += 1) name = `${wanted}.${count}`;
    taken.add(name);
    return name;
  };
}
