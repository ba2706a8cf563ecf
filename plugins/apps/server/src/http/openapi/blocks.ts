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
import type { ElementDefinition, Verify } from '../../apps/types';
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

const WHAT_IS_ENTERED = 'What a visitor would enter';

const text: JsonSchema = { description: WHAT_IS_ENTERED, type: 'string' };

/** A file, or a repeated text of a form. */
const oneOrMore = (one: JsonSchema): JsonSchema => ({ anyOf: [one, { type: 'array', items: one }] });

/** A file of a form: the bytes, in a part of its own. */
const fileBytes: JsonSchema = { description: 'A file', type: 'string', format: 'binary' };

/** A file in a form as JSON: one of the record, of the draft, or of the media library. */
const namedFile: JsonSchema = {
  description: 'A stored file, as an item has it',
  type: 'object',
  required: ['documentId'],
  properties: { documentId: { type: 'string' } },
  additionalProperties: true,
};

/** What a form as JSON takes for an input. */
function jsonEntry({ kind }: ElementDefinition): JsonSchema {
  if (kind.fields)
    return {
      description: 'The entries, each with what a visitor would enter',
      type: 'array',
      items: { type: 'object' },
    };
  if (kind.files) return { anyOf: [...(oneOrMore(namedFile).anyOf as JsonSchema[]), { type: 'null' }] };
  return { description: WHAT_IS_ENTERED, type: ['string', 'number', 'boolean', 'null', 'array'], items: {} };
}

/** The body of a form, as JSON or as a browser sends it: files come in parts only. */
export function formBody(asJson: JsonSchema, fields: JsonSchema, parts: JsonSchema = fields): Items {
  return {
    content: {
      [JSON_TYPE]: { schema: asJson },
      'application/x-www-form-urlencoded': { schema: fields },
      'multipart/form-data': { schema: parts },
    },
  };
}

/** What a form makes: a record, or a draft. */
function made({ definition }: Block): JsonSchema {
  const names = ['Created', ...(definition.drafts ? ['SavedDraft'] : [])].map((name) => reference('schemas', name));
  return names.length > 1 ? { anyOf: names } : reference('schemas', 'Created');
}

/** The names of the buttons of a block's form. */
function buttonsOf({ definition }: Block): string[] {
  const actions = [...definition.elements.values()].filter(
    (one) => roleOf(one) === 'action' && !one.verify && !builtInActions.has(one.name),
  );
  return ['_save', ...(definition.drafts ? ['_draft'] : []), '_delete', ...actions.map(({ name }) => name)];
}

/** A form as JSON, or as a browser sends it (docs/reference/json-interface.md#forms-as-json). */
function formOperation(app: App, block: Block, unique: UniqueName): Items {
  const inputs = [...block.definition.elements.values()].filter(
    (element) => roleOf(element) === 'input' && !element.mode,
  );
  const buttons = Object.fromEntries(
    buttonsOf(block).map((name) => [actionField(name), { description: 'Presses this button, with any value' }]),
  );
  const form = (elements: readonly ElementDefinition[], entry: (element: ElementDefinition) => JsonSchema) => {
    const entries = elements.map((one) => [one.name, { ...(one.label && { title: one.label }), ...entry(one) }]);
    return { type: 'object', properties: { ...Object.fromEntries(entries), ...buttons }, additionalProperties: true };
  };
  // The fields of a repeated group are <group>:<number>:<field>.
  const single = inputs.filter(({ kind }) => !kind.fields);
  const body = formBody(
    form(inputs, jsonEntry),
    form(
      single.filter(({ kind }) => !kind.files),
      () => oneOrMore(text),
    ),
    form(single, ({ kind }) => oneOrMore(kind.files ? fileBytes : text)),
  );
  return operation(app.id, {
    id: unique(app.id, block.id, 'submit'),
    summary: `Submit the form of the block ${block.id}`,
    changes: true,
    body,
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
