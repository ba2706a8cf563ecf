import { randomBytes } from 'node:crypto';
import { beforeEach, expect } from 'vitest';
import { configured } from '../../support/configure';
import { useStage, useThemes } from '../../support/hooks';
import type { Stage } from '../../support/stage';
import { type Delivery, type Receiver, useReceiver } from '../receiver';

export const secret = `whsec_${randomBytes(24).toString('base64')}`;

const settings = (receiver: Receiver) => `debug: true
acl: { rights: { submitter: ['*'], editor: [editors] } }
webhooks:
  all: { url: '${receiver.url('/all')}', secret: partner }
  created: { url: '${receiver.url('/created')}', events: [create], secret: partner }
  urgent: { url: '${receiver.url('/urgent')}', block: ticket, query: "priority >= 3", secret: partner }
  message: { url: '${receiver.url('/message')}', body: ticket/message, events: [create, delete] }
  spies: { url: '${receiver.url('/spies')}', body: inner/spies, events: [create] }
  writes: { url: '${receiver.url('/writes')}', body: ticket/writes, events: [create] }
  fails: { url: '${receiver.url('/fails')}', events: [create], secret: partner, query: "title == 'fails'" }
  moved: { url: '${receiver.url('/moved')}', events: [create], secret: partner, query: "title == 'moved'" }
  elsewhere: { url: 'http://127.0.0.1:9/elsewhere', events: [create], query: "title == 'elsewhere'" }
  unsigned: { url: '${receiver.url('/unsigned')}', events: [create], secret: missing, query: "title == 'unsigned'" }
`;

/** The definition that declares the index of a webhook's query. */
const breakable = 'elements: { priority: { type: NUMBER, index_type: field } }\n';

/** An app whose definitions break, and whose records may be larger than what a webhook sends of them. */
const breaks = (receiver: Receiver) => `acl: { rights: { editor: [editors] } }
webhooks:
  bulk: { url: '${receiver.url('/bulk')}', events: [create], body: ticket/short }
  due: { url: '${receiver.url('/due')}', events: [update, delete], block: note, query: "priority >= 3" }
`;

const logic = `
export function many(context) {
  const { count } = context.request.body;
  for (let n = 0; n < count; n++) context.app.create_record().save({ title: 'many', n });
}
export function twice(context) {
  const record = context.app.create_record('twice');
  record.save({ title: 'first' });
  record.save({ title: 'second' });
  const gone = context.app.create_record('gone');
  gone.save({ title: 'gone' });
  context.app.delete_record('gone');
}
export function rolled_back(context) {
  context.app.create_record().save({ title: 'never' });
  throw new Error('no');
}
export function later(context) { context.jobs.add('ticket/make', { title: 'by a job' }); }
export function make(context) { context.app.create_record().save({ title: context.params.title }); }
export function message(context) {
  const { event, data } = context.params;
  if (data.items.title === 'quiet') return null;
  return { text: event + ' ' + data.items.title, params: context.params };
}
export function writes(context) {
  if (context.params.data.items.title === 'writes') context.app.create_record().save({ title: 'written' });
  return null;
}
`;

const spying = `
const read = (work) => { try { return work(); } catch (error) { return error.name; } };
export function spies({ app, params, get_app }) {
  const { title } = params.data.items;
  if (title !== 'spies' && title !== 'broken') return null;
  const other = read(() => get_app('vault').search('').length);
  if (title === 'broken') throw new Error('in the vault: ' + other);
  return { own: app.get_record('hidden').title, other };
}
`;

export interface Job {
  name: string;
  /** JSON. */
  data: string;
  state: string;
  status: number | null;
  answer: string | null;
  error: string | null;
  attempts: number;
}

/** A host with the app "desk", and another server that its webhooks call. */
export interface Desk {
  stage: Stage;
  receiver: Receiver;
  /** Waits for so many deliveries to a path. @returns all of them */
  arrived(path: string, count: number): Promise<Delivery[]>;
  /** Creates a record. @returns its id */
  create(items: object, id?: string): Promise<string>;
  /** The jobs of a webhook, the latest first. */
  jobs(name: string): Promise<Job[]>;
  /** Breaks a file of the app "breaks" while work is done. */
  whileBroken(file: 'settings' | 'blocks/ticket', work: () => Promise<void>): Promise<void>;
}

export function useDesk(): Desk {
  const receiver = useReceiver();
  const themes = useThemes(async (copy) => {
    await copy.write('main/apps/desk/settings.yaml', settings(receiver));
    await copy.write(
      'main/apps/desk/blocks/ticket.yaml',
      'elements:\n  title: { type: TEXT, index_type: field }\n  priority: { type: NUMBER, index_type: field }\n  many: ACTION\n  twice: ACTION\n  rolled_back: ACTION\n  later: ACTION\n',
    );
    await copy.write('main/apps/desk/blocks/inner.yaml', 'view_permission: [editors]\nelements: {}\n');
    await copy.write('main/apps/desk/blocks/inner.js', spying);
    await copy.write('main/apps/vault/settings.yaml', 'acl: { rights: { reader: [editors] } }\n');
    await copy.write('main/apps/vault/blocks/note.yaml', 'elements:\n  text: TEXT\n');
    await copy.write('main/apps/breaks/settings.yaml', breaks(receiver));
    await copy.write('main/apps/breaks/blocks/ticket.yaml', breakable);
    await copy.write(
      'main/apps/breaks/blocks/ticket.js',
      'export const short = ({ params }) => ({ n: params.data.items.n });\n',
    );
    await copy.write('main/apps/breaks/blocks/note.yaml', 'elements: { title: TEXT }\n');
    await copy.write('main/apps/desk/blocks/ticket.html', '{title}{priority}{_save}');
    await copy.write('main/apps/desk/blocks/ticket.js', logic);
  });

  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: configured({
      apps: {
        fetch: {
          hosts: { desk: [receiver.host], breaks: [receiver.host] },
          private: [receiver.host],
          secrets: {
            partner: { value: secret, hosts: [receiver.host] },
            chat: { value: 'a value that nobody may see', hosts: [receiver.host] },
          },
          timeout: 1_000,
          size: 20_000,
        },
        jobs: { backoff: 1, retries: 4 },
      },
    }),
  }));

  /** How many deliveries are on their way: a test before may have waited for one of its webhooks alone. */
  const underWay = () =>
    stage.host.run(async (strapi) => {
      const table = strapi.db.connection('apps_jobs').where({ kind: 'webhook' });
      const first = table.where((state) => state.where('state', 'running').orWhere({ state: 'waiting', error: null }));
      const [row] = await first.count({ count: '*' });
      return Number(row?.count);
    });

  beforeEach(async () => {
    await expect.poll(underWay, { timeout: 60_000 }).toBe(0);
    receiver.clear();
  });

  const arrived = async (path: string, count: number): Promise<Delivery[]> => {
    await expect.poll(() => receiver.at(path).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
    return receiver.at(path);
  };

  const create = async (items: object, id?: string) => {
    const line = id === undefined ? 'POST desk' : `PUT desk/record/${id}`;
    const answer = await stage.send<{ id: string }>({ as: 'mona', send: line, json: items });
    expect(answer.status, answer.text).toBe(201);
    return answer.json.id;
  };

  const jobs = (name: string): Promise<Job[]> =>
    stage.host.run(async (strapi, name) => {
      const rows = await strapi.db.connection('apps_jobs').where({ kind: 'webhook', name }).orderBy('id', 'desc');
      return rows;
    }, name) as Promise<Job[]>;

  const whileBroken: Desk['whileBroken'] = async (file, work) => {
    const text = file === 'settings' ? breaks(receiver) : breakable;
    const write = async (text: string, status: number) => {
      await themes.write(`main/apps/breaks/${file}.yaml`, text);
      const send = file === 'settings' ? 'GET breaks' : 'GET breaks/blocks/ticket';
      await expect.poll(async () => (await stage.send({ as: 'mona', send })).status, { timeout: 10_000 }).toBe(status);
    };
    await write(`${text}colour: red\n`, 500);
    await work();
    await write(text, 200);
  };

  return { stage, receiver, arrived, create, jobs, whileBroken };
}
