import type { Items } from '../../../../shared/json';
import type { App, Block, JsonSchema } from '../../apps';
import { formBody, type UniqueName } from './blocks';
import { answer, json, ofRuns, operation, reference } from './components';

const schema = (name: string): JsonSchema => reference('schemas', name);

const anyFields: JsonSchema = { type: 'object', additionalProperties: true };

/** The addresses of signed links that blocks of the app give, by their paths below the service. */
export function linkPaths({ id: app, blocks }: App, record: JsonSchema, unique: UniqueName): Items {
  const some = (gives: (definition: Block['definition']) => boolean) =>
    [...blocks.values()].some(({ definition, error }) => error === null && gives(definition));
  return {
    ...(some(({ drafts }) => drafts) && { [`/${app}/draft/{token}`]: draftPath(app, unique) }),
    ...(some(({ selfService }) => selfService !== null) && {
      [`/${app}/mine/{token}`]: ownPath(app, record, unique),
    }),
    ...(some(({ receipt }) => receipt !== null) && receiptPaths(app, unique)),
  };
}

/** The draft of a signed link (docs/reference/definitions.md#drafts). Its token stands for a CSRF token. */
function draftPath(app: string, unique: UniqueName): Items {
  const time = { type: 'string', format: 'date-time' };
  const draft: JsonSchema = {
    type: 'object',
    required: ['block', 'values', 'saved_at', 'until'],
    properties: {
      block: { type: 'string' },
      values: { type: 'object', additionalProperties: true },
      saved_at: time,
      until: time,
    },
  };
  return {
    parameters: [tokenParameter(65)],
    get: operation(app, {
      id: unique(app, 'getDraft'),
      summary: 'A draft: what was entered, as texts',
      answers: { 200: answer('What was entered', draft) },
    }),
    post: operation(app, {
      id: unique(app, 'submitDraft'),
      summary: 'Send the form of a draft, or save the draft again, with all its fields',
      parameters: ['IdempotencyKey'],
      body: { required: true, ...formBody(anyFields, anyFields) },
      answers: {
        200: answer('The draft was saved again', schema('SavedDraft')),
        201: answer('A record was created, and the draft has ended', schema('Created'), ['Location']),
      },
      errors: ofRuns,
    }),
    delete: operation(app, {
      id: unique(app, 'deleteDraft'),
      summary: 'Delete a draft with its files',
      answers: { 200: answer('Deleted', schema('Deleted')) },
    }),
  };
}

const tokenParameter = (length: number): Items => ({
  in: 'path',
  name: 'token',
  required: true,
  schema: { type: 'string', pattern: `^[A-Za-z0-9_-]{${length}}$` },
});

const oneOf = (name: string, values: readonly string[]): JsonSchema => ({
  type: 'object',
  required: [name],
  properties: { [name]: { enum: [...values] } },
});

/** The links of receipts (docs/reference/definitions.md#receipts). Their tokens stand for a CSRF token. */
function receiptPaths(app: string, unique: UniqueName): Items {
  return {
    [`/${app}/confirm/{token}`]: {
      parameters: [tokenParameter(65)],
      get: operation(app, {
        id: unique(app, 'getConfirmation'),
        summary: 'Whether the record of the link is confirmed',
        answers: { 200: answer('Its state', oneOf('state', ['unconfirmed', 'confirmed', 'waiting'])) },
      }),
      post: operation(app, {
        id: unique(app, 'confirm'),
        summary: 'Confirm the record of the link',
        answers: { 200: answer('Confirmed, now or before', oneOf('success', ['confirmed'])) },
        errors: ofRuns,
      }),
      delete: operation(app, {
        id: unique(app, 'deleteConfirmation'),
        summary: 'Delete the record of the link while it is not confirmed, and else end the link',
        answers: { 200: answer('What was ended', oneOf('success', ['deleted', 'revoked'])) },
        errors: ofRuns,
      }),
    },
    [`/${app}/unsubscribe/{token}`]: {
      parameters: [tokenParameter(86)],
      get: operation(app, {
        id: unique(app, 'getRefusal'),
        summary: 'Whether the address of the mail gets no more receipts',
        answers: {
          200: answer('Its choice', {
            type: 'object',
            required: ['refused'],
            properties: { refused: { type: 'boolean' } },
          }),
        },
      }),
      post: operation(app, {
        id: unique(app, 'refuse'),
        summary: 'Send no more receipts to the address of the mail',
        answers: { 200: answer('Done', oneOf('success', ['refused'])) },
      }),
      delete: operation(app, {
        id: unique(app, 'deleteRefusal'),
        summary: 'Send receipts to the address of the mail again',
        answers: { 200: answer('Done', oneOf('success', ['deleted'])) },
      }),
    },
  };
}

/** The own record of a signed link (docs/reference/definitions.md#corrections-by-a-link). Its token stands for a CSRF token. */
function ownPath(app: string, record: JsonSchema, unique: UniqueName): Items {
  const update = (method: string) =>
    operation(app, {
      id: unique(app, method),
      summary: 'Change the own record, as its form would: items that are not named stay',
      parameters: ['IdempotencyKey'],
      body: { required: true, ...json(anyFields) },
      answers: { 200: answer('Changed', schema('Updated')) },
      errors: ofRuns,
    });
  return {
    parameters: [tokenParameter(65)],
    get: operation(app, {
      id: unique(app, 'getOwn'),
      summary: 'The own record: what its block shows of it',
      answers: { 200: answer('Its items', record) },
    }),
    patch: update('updateOwn'),
    post: update('updateOwnByPost'),
    delete: operation(app, {
      id: unique(app, 'deleteOwn'),
      summary: 'Withdraw the own record where its link allows that, and else end the link',
      answers: {
        200: answer('What was ended', {
          type: 'object',
          required: ['success'],
          properties: { success: { enum: ['deleted', 'revoked'] } },
        }),
      },
      errors: ofRuns,
    }),
  };
}
