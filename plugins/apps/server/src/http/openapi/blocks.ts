import type { Items } from '../../../../shared/json';
import {
  type App,
  actionField,
  answerTypes,
  type Block,
  builtInActions,
  itemSchema,
  type JsonSchema,
  roleOf,
} from '../../apps';
import type { Verify } from '../../apps/types';
import { answer, JSON_TYPE, json, ofRuns, operation, reference } from './components';

/** Names that the document gives, each once (docs/reference/openapi.md#names). */
export type UniqueName = (...parts: string[]) => string;

/** The schemas of a block's records, by the names that they have in the document. */
export interface BlockSchemas {
  items: string;
  record: string;
  schemas: Items;
}

/** Items as the form of a block stores them, and its records (docs/reference/openapi.md#items-of-a-block). */
export function blockSchemas(app: App, block: Block, unique: UniqueName): BlockSchemas | null {
  const stored = [...block.definition.elements.values()].flatMap((element): [string, JsonSchema][] => {
    const schema = itemSchema(element);
    return schema ? [[element.name, element.label ? { title: element.label, ...schema } : schema]] : [];
  });
  const { states } = block.definition;
  if (states) stored.push(['state', { title: 'The state', enum: [...states.all.keys()] }]);
  if (stored.length === 0) return null;
  const [items, record] = [unique(app.id, block.id, 'Items'), unique(app.id, block.id, 'Record')];
  const shape: JsonSchema = {
    description: `Items of the block ${block.id}`,
    type: 'object',
    required: ['block'],
    properties: { block: { const: block.id }, ...Object.fromEntries(stored) },
    additionalProperties: true,
  };
  const both = { allOf: [reference('schemas', items), reference('schemas', 'Record')] };
  return { items, record, schemas: { [items]: shape, [record]: both } };
}

/** The operations of a block and its elements, by their paths below the service. */
export function blockPaths(app: App, block: Block, unique: UniqueName): Items {
  const at = `/${app.id}/blocks/${block.id}`;
  const elements = [...block.definition.elements.values()].filter(({ name }) => !builtInActions.has(name));
  return {
    [at]: {
      get: operation(app.id, {
        id: unique(app.id, block.id, 'definition'),
        summary: `The definition of the block ${block.id}`,
        answers: { 200: answer('The definition', reference('schemas', 'Definition')) },
      }),
      ...(block.layout && { post: formOperation(app, block, unique) }),
    },
    ...Object.fromEntries(elements.map(({ name }) => [`${at}/${name}`, elementPath(app, block, name, unique)])),
  };
}

const anyValue = (description: string): Items => ({
  description,
  content: {
    [JSON_TYPE]: { schema: {} },
    ...Object.fromEntries(
      answerTypes.filter((type) => type !== JSON_TYPE).map((type) => [type, { schema: { type: 'string' } }]),
    ),
  },
});

const redirect: Items = {
  303: { description: 'Logic leads to another address', headers: { Location: reference('headers', 'Location') } },
};

/** Operation 2 of docs/reference/json-interface.md#operations. */
function elementPath(app: App, block: Block, name: string, unique: UniqueName): Items {
  const element = block.definition.elements.get(name);
  const verify = element?.verify;
  if (verify) return { post: webhookOperation(app.id, verify, unique(app.id, block.id, name, 'webhook'), name) };
  const common = {
    summary: `${roleOf(element) === 'action' ? 'Run the action' : 'Compute the element'} ${name} of the block ${block.id}`,
    description: 'The answer is what the function returned, with the status that it may have set.',
    answers: {
      200: anyValue('What the function returned'),
      default: anyValue('With a status that logic has set'),
      ...redirect,
    },
    errors: ofRuns,
  };
  const body = {
    description: 'Read by logic as context.request.body',
    ...json({ type: 'object', additionalProperties: true }),
  };
  return {
    get: operation(app.id, { ...common, id: unique(app.id, block.id, name) }),
    post: operation(app.id, { ...common, id: unique(app.id, block.id, name, 'post'), changes: true, body }),
  };
}

const header = (name: string, description: string, required = true): Items => ({
  in: 'header',
  name,
  description,
  required,
  schema: { type: 'string', maxLength: 255 },
});

const standardHeaders = [
  header('webhook-id', 'Names the webhook; a second one with this id is answered as the first'),
  header('webhook-timestamp', 'Seconds since 1970; at most five minutes from now'),
  header('webhook-signature', 'Signatures as Standard Webhooks says, with spaces between them'),
];

/** The headers of a webhook. */
function webhookHeaders({ hex }: Verify): Items[] {
  if (!hex) return standardHeaders;
  const digest = `${hex.prefix === '' ? '' : `"${hex.prefix}" and `}the HMAC-SHA256 of the body in hexadecimal digits`;
  return [
    header(hex.header, digest),
    header('webhook-id', 'A second one with this id is answered as the first', false),
  ];
}

/** The call of an element with `verify` (docs/reference/webhooks.md#webhooks-in). */
function webhookOperation(tag: string, verify: Verify, id: string, name: string): Items {
  const body = {
    description: 'Read by logic as context.request.body, a form as context.request.form',
    content: {
      [JSON_TYPE]: { schema: {} },
      'application/x-www-form-urlencoded': { schema: { type: 'object', additionalProperties: true } },
    },
  };
  return {
    ...operation(tag, {
      id,
      body,
      errors: ofRuns,
      summary: `Receive a webhook by the element ${name}`,
      description: 'Needs the signature that the headers have, and no CSRF token. Without the right one it is 401.',
      answers: { 200: anyValue('What the function returned'), default: anyValue('With a status that logic has set') },
    }),
    security: [{}, { bearer: [] }, { basic: [] }],
    parameters: webhookHeaders(verify),
  };
}

/** A repeated group in a form as JSON. */
const listOfEntries = {
  description: 'The entries, each with what a visitor would enter',
  type: 'array',
  items: { type: 'object' },
};

/** What a form makes: a record, or a draft. */
function made({ definition }: Block): JsonSchema {
  const names = ['Created', ...(definition.drafts ? ['SavedDraft'] : [])].map((name) => reference('schemas', name));
  return names.length > 1 ? { anyOf: names } : reference('schemas', 'Created');
}

/** A form as JSON (docs/reference/json-interface.md#forms-as-json). */
function formOperation(app: App, block: Block, unique: UniqueName): Items {
  const all = [...block.definition.elements.values()];
  const inputs = all.filter((element) => roleOf(element) === 'input' && !element.mode);
  const actions = [
    '_save',
    ...(block.definition.drafts ? ['_draft'] : []),
    '_delete',
    ...all
      .filter((one) => roleOf(one) === 'action' && !one.verify && !builtInActions.has(one.name))
      .map(({ name }) => name),
  ];
  const entry = {
    description: 'What a visitor would enter',
    type: ['string', 'number', 'boolean', 'null', 'array'],
    items: {},
  };
  const properties = Object.fromEntries([
    ...inputs.map((element) => {
      const own = element.kind.fields ? listOfEntries : entry;
      return [element.name, element.label ? { title: element.label, ...own } : own];
    }),
    ...actions.map((name) => [actionField(name), { description: 'Presses this button, with any value' }]),
  ]);
  return operation(app.id, {
    id: unique(app.id, block.id, 'submit'),
    summary: `Submit the form of the block ${block.id}`,
    changes: true,
    body: json({ type: 'object', properties, additionalProperties: true }),
    answers: {
      200: answer('Nothing was created', {
        anyOf: ['Shown', 'Updated', 'Deleted'].map((name) => reference('schemas', name)),
      }),
      201: answer('A record was created', made(block), ['Location']),
      ...redirect,
    },
    errors: ofRuns,
  });
}
