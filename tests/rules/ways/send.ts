import { expect } from 'vitest';
import { type WayName, ways } from '../../../plugins/apps/server/src/apps/blocks/saving/checked-items';
import { errorStatuses } from '../../../plugins/apps/server/src/common/errors';
import type { ImportState, RecordDetail } from '../../../plugins/apps/shared/admin-api';
import type { Items, Json } from '../../../plugins/apps/shared/json';
import { article } from '../../support/seed';
import type { Answer } from '../../support/send';
import { html, type Person, type Stage } from '../../support/stage';

/** What is sent by a way. */
export interface Sending {
  app: string;
  block: string;
  /** All items of the record. */
  items: Items;
  /** Those of them that a change sends. */
  changed: Items;
  /** Fields of a form. */
  fields: Record<string, string>;
  /** Items of another record, which is right: sent before this one where a way takes several. */
  first: Items;
  /** The id of the record that is changed, or of the one that is created by its id. */
  id: string;
  /** The path below the site of the signed link to the record or the draft, for ways that go by one; else ''. */
  link: string;
  as: Person;
}

export interface Outcome {
  /** Null where the way refuses with a text alone. */
  status: number | null;
  /** Of the messages, joined by dots; null where the way answers with a text alone. */
  paths: string[] | null;
  text: string;
}

type Send = (stage: Stage, sending: Sending) => Promise<Outcome>;

/** What a failed call in the host's process gives. */
interface Failure {
  name: keyof typeof errorStatuses;
  message: string;
  details?: { errors?: { path: string[] }[] };
}

const panel = (app: string) => `/apps/sites/site/apps/${app}`;
const pathsOf = (errors: { path: string[] }[] = []) => errors.map(({ path }) => path.join('.'));

function ofJson({ status, json, text }: Answer): Outcome {
  const { error } = (json ?? {}) as { error?: { details?: Failure['details'] } };
  return { status, paths: pathsOf(error?.details?.errors), text };
}

/** Of a page: its controls that are marked as wrong. */
function ofPage({ status, text }: Answer): Outcome {
  const controls = text.match(/<(?:input|select|textarea|fieldset)\b[^>]*>/g) ?? [];
  const wrong = controls.filter((control) => control.includes('aria-invalid="true"'));
  return { status, paths: wrong.map((control) => /\bname="([^"]*)"/.exec(control)?.[1] ?? ''), text };
}

const ofFailure = ({ name, message, details }: Failure): Outcome => ({
  status: errorStatuses[name],
  paths: pathsOf(details?.errors),
  text: message,
});

const done: Outcome = { status: 200, paths: [], text: '' };

/** Sends a file as the panel does, and waits until its import has ended. */
async function importFile(stage: Stage, { app, first, items, as }: Sending): Promise<Outcome> {
  const options = JSON.stringify({ name: 'records.ndjson', mapping: {} });
  const lines = `${JSON.stringify(first)}\n${JSON.stringify(items)}\n`;
  const part = (head: string, text: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  const body = `${part('name="options"', options)}${part('name="files"; filename="x"\r\nContent-Type: application/x-ndjson', lines)}--b--\r\n`;
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const started = await stage.send({ as, send: `POST ${panel(app)}/records/import`, body, headers });
  if (started.status !== 202) return ofJson(started);
  let { json: state } = started as { json: ImportState };
  while (state.state === 'running')
    state = (await stage.send<ImportState>({ as, send: `GET ${panel(app)}/records/import?id=${state.id}` })).json;
  if (state.state === 'done') return done;
  expect(state.line).toBe(2);
  return { status: null, paths: null, text: String(state.message) };
}

/** Creates records as the command line does: it checks all of them first. */
async function importRecords(stage: Stage, { app, first, items }: Sending): Promise<Outcome> {
  const records = [first, items].map(({ id, ...rest }) => ({
    ...(typeof id === 'string' ? { id, whenTaken: 'refuse' } : {}),
    items: rest,
    creator: null,
  }));
  const failure = await stage.host.run(
    async (strapi, app, records): Promise<Failure | null> => {
      const { create } = strapi.plugin('apps').service('records');
      try {
        for (const isDropped of [true, false]) await create('site', app, records, isDropped);
        return null;
      } catch (error) {
        const { name, message, details } = error as Failure;
        return { name, message, details };
      }
    },
    app,
    records,
  );
  return failure ? ofFailure(failure) : done;
}

/** Calls the block's function from code, in the name of a user. */
async function call(stage: Stage, { app, id, items, as }: Sending): Promise<Outcome> {
  await stage.user(as);
  const failure = await stage.host.run(
    async (strapi, target, params, username): Promise<Failure | null> => {
      const user = await strapi.db.query('plugin::users-permissions.user').findOne({ where: { username } });
      const auth = { strategy: { name: 'users-permissions' }, credentials: user };
      try {
        await strapi.plugin('apps').service('apps').call(target, { params, requester: { auth } });
        return null;
      } catch (error) {
        const { name, message, details } = error as Failure;
        return { name, message, details };
      }
    },
    `${app}/tool/called`,
    { id, items },
    as,
  );
  return failure ? ofFailure(failure) : done;
}

/** Creates an article whose text is what a rule on events stores, and waits for the rule. */
async function causeEvent(stage: Stage, { app, id, items, as }: Sending): Promise<Outcome> {
  const data = { title: id, slug: id, body: JSON.stringify({ app, id, items }) };
  const made = await stage.send<{ data: { documentId: string } }>({ as, send: 'POST /api/articles', json: { data } });
  expect(made.status, made.text).toBe(201);
  const message = await stage.host.run(
    async (strapi, rule, documentId, record): Promise<string | null> => {
      for (;;) {
        const { failures } = await strapi.db.query('plugin::apps.rule').findOne({ where: { name: rule } });
        const failure = (failures ?? []).find((one: { documentId: string }) => one.documentId === documentId);
        if (failure) return failure.message;
        const stored = await strapi.db.query('plugin::apps.record').count({ where: { identifier: record } });
        if (stored > 0) return null;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    `store in ${app}`,
    made.json.data.documentId,
    id,
  );
  if (message === null) return done;
  const name = message.split(':', 1)[0] as keyof typeof errorStatuses;
  return { status: errorStatuses[name], paths: null, text: message };
}

/** Makes the rules by which the articles of `event` are heard. */
export async function makeRules(stage: Stage, apps: readonly string[]): Promise<void> {
  for (const app of apps) {
    const called = { contentType: article, event: 'create', app, block: 'tool', function: 'heard' };
    const json = { ...called, name: `store in ${app}`, enabled: true };
    const answer = await stage.send({ as: 'ada', send: 'POST /apps/rules', json });
    expect(answer.status, answer.text).toBe(201);
  }
}

const saved = { _save: '' };
const send: Record<WayName, Send> = {
  form: async (stage, { app, block, fields, as }) =>
    ofPage(await stage.send({ as, send: `POST ${app}/blocks/${block}`, accept: html, form: { ...fields, ...saved } })),
  recordForm: async (stage, { app, id, fields, as }) =>
    ofPage(await stage.send({ as, send: `POST ${app}/record/${id}`, accept: html, form: { ...fields, ...saved } })),
  jsonForm: async (stage, { app, block, items, as }) =>
    ofJson(await stage.send({ as, send: `POST ${app}/blocks/${block}`, json: { ...items, ...saved } })),
  draftForm: async (stage, { link, fields, as }) =>
    ofPage(await stage.send({ as, send: `POST ${link}`, accept: html, form: { ...fields, ...saved } })),
  draftJson: async (stage, { link, items, as }) =>
    ofJson(await stage.send({ as, send: `POST ${link}`, csrf: false, json: { ...items, ...saved } })),
  ownForm: async (stage, { link, fields, as }) =>
    ofPage(await stage.send({ as, send: `POST ${link}`, accept: html, form: { ...fields, ...saved } })),
  ownPatch: async (stage, { link, changed, as }) =>
    ofJson(await stage.send({ as, send: `PATCH ${link}`, csrf: false, json: changed })),
  create: async (stage, { app, items, as }) => ofJson(await stage.send({ as, send: `POST ${app}`, json: items })),
  createById: async (stage, { app, id, items, as }) =>
    ofJson(await stage.send({ as, send: `PUT ${app}/record/${id}`, json: items })),
  patch: async (stage, { app, id, changed, as }) =>
    ofJson(await stage.send({ as, send: `PATCH ${app}/record/${id}`, json: changed })),
  post: async (stage, { app, id, items, as }) =>
    ofJson(await stage.send({ as, send: `POST ${app}/record/${id}`, json: items })),
  bulk: async (stage, { app, first, items, as }) =>
    ofJson(await stage.send({ as, send: `POST ${app}/records`, json: [first, items] })),
  ndjson: async (stage, { app, first, items, as }) => {
    const body = `${JSON.stringify(first)}\n${JSON.stringify(items)}\n`;
    const headers = { 'content-type': 'application/x-ndjson' };
    return ofJson(await stage.send({ as, send: `POST ${app}/records`, body, headers }));
  },
  panelForm: async (stage, { app, block, fields, as }) => {
    const json = { block, fields: { ...fields, ...saved } };
    return ofJson(await stage.send({ as, send: `POST ${panel(app)}/form`, json }));
  },
  panelCreate: async (stage, { app, items, as }) =>
    ofJson(await stage.send({ as, send: `POST ${panel(app)}/record`, json: { items } })),
  panelUpdate: async (stage, { app, id, changed, as }) => {
    const target = `${panel(app)}/record?id=${id}`;
    const { version, items } = (await stage.send<RecordDetail>({ as: 'root', send: `GET ${target}` })).json;
    return ofJson(await stage.send({ as, send: `PUT ${target}`, json: { items: { ...items, ...changed }, version } }));
  },
  panelImport: importFile,
  commandImport: importRecords,
  save: async (stage, { app, id, items, as }) =>
    ofJson(await stage.send({ as, send: `POST ${app}/blocks/tool/make`, json: { id, items } })),
  event: causeEvent,
  call,
};

export const sendBy = (way: WayName, stage: Stage, sending: Sending): Promise<Outcome> => send[way](stage, sending);

/** Who may send by a way, whatever the app. */
export function usual(way: WayName): Person {
  if (ways[way].right === 'link') return 'anonymous';
  return way.startsWith('panel') ? 'clerk' : 'eric';
}

export const isOfDraft = (way: WayName) => way.startsWith('draft');

/** Makes a draft of a block, or a record with an own link. @returns the id of the record, and the path of the link below the site's apps */
export async function linked(
  stage: Stage,
  way: WayName,
  { app, block, items, as }: Pick<Sending, 'app' | 'block' | 'items' | 'as'>,
): Promise<{ id: string; link: string }> {
  const made = isOfDraft(way)
    ? await stage.send<{ link: string }>({
        as,
        send: `POST ${app}/blocks/${block}`,
        json: { title: 'begun', _draft: '' },
      })
    : await stage.send<{ id: string; link: string }>({ as, send: `POST ${app}`, json: { ...items, block } });
  expect(made.status, made.text).toBe(201);
  const { id = '', link } = made.json as { id?: string; link: string };
  return { id, link: link.replace(/^.*@@apps\//, '') };
}

/** All ways, in their order. */
export const wayNames = Object.keys(ways) as WayName[];

/** Items as a browser sends them. */
export const fieldsOf = (items: Items): Record<string, string> =>
  Object.fromEntries(
    Object.entries(items).flatMap(([name, value]): [string, string][] => {
      if (name === 'block' || value === null || value === false) return [];
      return [[name, textOf(value)]];
    }),
  );

function textOf(value: Json): string {
  if (value === true) return 'true';
  if (value === null || typeof value !== 'object') return String(value);
  return 'documentId' in value ? `stored:${value.documentId}` : JSON.stringify(value);
}
