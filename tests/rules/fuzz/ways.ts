import { expect } from 'vitest';
import type { Answer } from '../../support/send';
import { html, type RowRequest, type Stage } from '../../support/stage';
import type { AppName } from './apps';
import type { Stored } from './model';
import { type Body, fieldsOf, increments, inputs, mutated, type Random, validItems } from './random';

/** What a request makes of the records if it succeeds. */
export type Effect =
  | { kind: 'create'; count: number; id?: string }
  | { kind: 'change' | 'delete'; id: string }
  /** One record, new or not: logic finds it. */
  | { kind: 'save' };

/** A request of the fuzzer. */
export interface Attempt {
  as: string;
  effect: Effect;
  /** What is shown where a rule is broken. */
  shown: unknown;
  /** The items of each record that a client has sent as JSON. */
  sent?: readonly object[];
  /** Sends it. @returns whether it has succeeded, and its answer */
  send(): Promise<{ isDone: boolean; status: number; text: string }>;
}

/** Where requests are made from. */
export interface Ground {
  stage: Stage;
  random: Random;
  app: AppName;
  records: readonly Stored[];
  /** As records name their creators. */
  identityOf: Readonly<Record<string, string | null>>;
}

/** Who sends requests to the app; `clerk` uses the panel. */
export const people = ['anonymous', 'sam', 'una', 'anna', 'abel', 'eric'] as const;

/** The same, those more often who may change records. */
const changers = [...people, 'una', 'anna', 'eric', 'eric'] as const;

const panel = (app: string) => `/apps/sites/site/apps/${app}`;

/** Items with a block, or without one. */
function newItems({ random, records }: Ground): Body {
  const kind = random.pick(['order', 'order', 'order', 'order', 'note', 'none', 'odd'] as const);
  const items = kind === 'note' ? { title: random.pick(['One', 'Two', 'Longer']) } : validItems(random, records);
  if (kind === 'odd') return mutated(random, { ...items, block: random.pick([null, '', 5, [], 'gone', '__proto__']) });
  return mutated(random, kind === 'none' ? items : { ...items, block: kind });
}

/** Items of a change. */
function changedItems({ random, records }: Ground): Body {
  const all = Object.entries(validItems(random, records)).filter(() => random.chance(0.5));
  const body = mutated(random, Object.fromEntries(all));
  if (random.chance(0.15)) body.block = random.pick(['order', 'order', 'note', null, 'gone']);
  return random.chance(0.2) ? { ...body, $inc: increments(random) } : body;
}

/** Items that take a record into a block, or out of it. */
function move({ random, records }: Ground): Body {
  const block = random.pick(['order', 'note', null]);
  const items = { order: validItems(random, records), note: { title: 'One' } };
  const forged = random.chance(0.2) ? { [random.pick(['plan', 'made', 'total'])]: 'forged' } : {};
  return { block, ...(block === null ? {} : items[block as keyof typeof items]), ...forged };
}

let made = 0;
const newId = ({ random, records }: Ground): string => {
  made += 1;
  if (records.length > 0 && random.chance(0.1)) return random.pick(records).id;
  return `${random.pick(['r', 'r/edit', '__proto__', 'ä'])}-${made}${random.chance(0.1) ? '/edit' : ''}`;
};

const addressOf = (id: string) => id.split('/').map(encodeURIComponent).join('/');

/** A request by HTTP; a page has succeeded when it leads to another, a form as JSON when it is not shown again. */
function request(ground: Ground, as: string, effect: Effect, row: RowRequest): Attempt {
  const send = async () => {
    const { status, text, json }: Answer = await ground.stage.send({ as, ...row });
    const isShown = Object.hasOwn(Object(json), 'html');
    return { isDone: row.accept === html ? status === 303 : status < 300 && !isShown, status, text };
  };
  return { as, effect, shown: row, sent: sentBy(row), send };
}

/** The items of records in a request; those of a form as JSON have names that no item has. */
function sentBy({ json, body, send: line }: RowRequest): readonly object[] {
  if (typeof body === 'string') return body.split('\n').map((one) => JSON.parse(one));
  if (json === undefined || line.includes('/tools/') || line.includes('/form')) return [];
  return [json].flat().map((one) => Object((one as { items?: object }).items ?? one));
}

/** A record of the app; most of the time one of the requester's own. */
function target({ random, records, identityOf }: Ground, as: string): Stored | null {
  const own = records.filter(({ creator }) => creator !== null && creator === identityOf[as]);
  const list = own.length > 0 && random.chance(0.7) ? own : records;
  return list.length > 0 ? random.pick(list) : null;
}

type Way = (ground: Ground) => Attempt | null;

const toRecord =
  (make: (ground: Ground) => Omit<RowRequest, 'send'> & { method: string }): Way =>
  (ground) => {
    const as = ground.random.pick(changers);
    const record = target(ground, as);
    if (!record) return null;
    const { method, ...row } = make(ground);
    const send = `${method} ${ground.app}/record/${addressOf(record.id)}`;
    // A form has buttons for both.
    const kind = method === 'DELETE' || Object.hasOwn(row.form ?? {}, '_delete') ? 'delete' : 'change';
    return request(ground, as, { kind, id: record.id }, { ...row, send });
  };

const many = (ground: Ground) => Array.from({ length: ground.random.pick([1, 1, 2, 3]) }, () => newItems(ground));
const lines = (list: readonly Body[]) => list.map((one) => JSON.stringify(one)).join('\n');
const ndjson = { 'content-type': 'application/x-ndjson' };

const blockOf = ({ random }: Ground) => random.pick(['order', 'order', 'order', 'note']);
const formItems = (ground: Ground, block: string): Body => ({
  ...mutated(ground.random, block === 'note' ? { title: 'One' } : validItems(ground.random, ground.records)),
  ...(ground.random.chance(0.9) && { _save: '' }),
});

function form(ground: Ground, asJson: boolean): Attempt {
  const block = blockOf(ground);
  const body = formItems(ground, block);
  const row: RowRequest = { send: `POST ${ground.app}/blocks/${block}` };
  const sent = asJson ? { json: body } : { form: fieldsOf(body), accept: html };
  return request(ground, ground.random.pick(people), { kind: 'create', count: 1 }, { ...row, ...sent });
}

/** All items of a record as the panel sends them, some of them changed. */
function panelChange(ground: Ground): Attempt | null {
  const { stage, random, app } = ground;
  const record = target(ground, 'clerk');
  if (!record) return null;
  const query = `record?id=${encodeURIComponent(record.id)}`;
  const items = random.chance(0.5) ? mutated(random, record.items) : { ...record.items, ...changedItems(ground) };
  const send = async () => {
    const { json } = await stage.send<{ version: string }>({ as: 'clerk', send: `GET ${panel(app)}/${query}` });
    const { status, text } = await stage.send({
      as: 'clerk',
      send: `PUT ${panel(app)}/${query}`,
      json: { items, version: json.version },
    });
    return { isDone: status === 200, status, text };
  };
  return { as: 'clerk', effect: { kind: 'change', id: record.id }, shown: { panel: query, items }, send };
}

function panelImport(ground: Ground): Attempt {
  const { stage, app } = ground;
  const list = many(ground);
  const options = JSON.stringify({ name: 'records.ndjson', mapping: {} });
  const part = (head: string, text: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  const file = part('name="files"; filename="x"\r\nContent-Type: text/plain', lines(list));
  const body = `${part('name="options"', options)}${file}--b--\r\n`;
  const send = async () => {
    const row = { body, headers: { 'content-type': 'multipart/form-data; boundary=b' } };
    const { status, text } = await stage.send({ as: 'clerk', send: `POST ${panel(app)}/records/import`, ...row });
    if (status !== 202) return { isDone: false, status, text };
    let state: { state: string; message: string | null } = { state: 'running', message: null };
    const read = async () => {
      state = (await stage.send<typeof state>({ as: 'clerk', send: `GET ${panel(app)}/records/import` })).json;
      return state.state;
    };
    await expect.poll(read, { interval: 5 }).not.toBe('running');
    return { isDone: state.state === 'done', status, text: state.message ?? '' };
  };
  return { as: 'clerk', effect: { kind: 'create', count: list.length }, shown: { import: list }, send };
}

/** The ways by which items come, with how often each is tried. */
export const ways: Record<string, readonly [weight: number, Way]> = {
  form: [3, (ground) => form(ground, false)],
  jsonForm: [3, (ground) => form(ground, true)],
  recordForm: [3, toRecord((ground) => ({ method: 'POST', accept: html, form: fieldsOf(formItems(ground, 'order')) }))],
  create: [
    4,
    (ground) => {
      const row = { send: `POST ${ground.app}`, json: newItems(ground) };
      return request(ground, ground.random.pick(people), { kind: 'create', count: 1 }, row);
    },
  ],
  createById: [
    3,
    (ground) => {
      const id = newId(ground);
      const row = { send: `PUT ${ground.app}/record/${addressOf(id)}`, json: newItems(ground) };
      return request(ground, ground.random.pick(people), { kind: 'create', count: 1, id }, row);
    },
  ],
  patch: [6, toRecord((ground) => ({ method: 'PATCH', json: changedItems(ground) }))],
  post: [2, toRecord((ground) => ({ method: 'POST', json: changedItems(ground) }))],
  move: [3, toRecord((ground) => ({ method: 'PATCH', json: move(ground) }))],
  increment: [2, toRecord(({ random }) => ({ method: 'PATCH', json: { $inc: increments(random) } }))],
  bulk: [
    2,
    (ground) => {
      const json = many(ground);
      const row = { send: `POST ${ground.app}/records`, json };
      return request(ground, ground.random.pick(people), { kind: 'create', count: json.length }, row);
    },
  ],
  ndjson: [
    2,
    (ground) => {
      const list = many(ground);
      const row = { send: `POST ${ground.app}/records`, body: lines(list), headers: ndjson };
      return request(ground, ground.random.pick(people), { kind: 'create', count: list.length }, row);
    },
  ],
  remove: [1, toRecord(() => ({ method: 'DELETE' }))],
  logic: [
    3,
    (ground) => {
      const { random, records, app } = ground;
      const id = random.chance(0.5) ? target(ground, 'anna')?.id : undefined;
      const items = mutated(random, id ? {} : validItems(random, records), inputs);
      const row = { send: `POST ${app}/blocks/tools/save`, json: { ...(id === undefined ? {} : { id }), items } };
      return request(ground, random.pick(people), { kind: 'save' }, row);
    },
  ],
  panelCreate: [
    2,
    (ground) => {
      const row = { send: `POST ${panel(ground.app)}/record`, json: { items: newItems(ground) } };
      return request(ground, 'clerk', { kind: 'create', count: 1 }, row);
    },
  ],
  panelForm: [
    2,
    (ground) => {
      const block = blockOf(ground);
      const row = {
        send: `POST ${panel(ground.app)}/form`,
        json: { block, fields: fieldsOf(formItems(ground, block)) },
      };
      const sent = request(ground, 'clerk', { kind: 'create', count: 1 }, row);
      const send = async () => {
        const answer = await sent.send();
        return { ...answer, isDone: answer.isDone && JSON.parse(answer.text).kind === 'saved' };
      };
      return { ...sent, send };
    },
  ],
  panelUpdate: [3, panelChange],
  panelImport: [2, panelImport],
};
