import { locationOf } from '../../support/send';
import { html, type RowRequest, type Stage } from '../../support/stage';
import type { ThemeCopy } from '../../support/theme';
import { formBody, type Part } from '../files/send';

/** Drafts of one sender in an app. */
export const DRAFTS = 150;

const elements = `elements:
  name: { type: TEXT, label: Your name, required: true, maxlength: 20 }
  mail: { type: EMAIL, label: Your mail }
  age: { type: NUMBER, label: Age }
  kind: { type: SELECT, label: Kind, options: [red, green] }
  more: { type: TEXT, label: More, show_if: { kind: red } }
  cv: { type: FILE, label: CV, accept: .pdf, max_size: 2 kB }
  photo: { type: FILE, label: Photo, public: true }
  pin: { type: TEXT, label: PIN, autocomplete: one-time-code }
  people:
    type: REPEAT
    label: People
    elements:
      who: { type: TEXT, label: Who }
      doc: { type: FILE, label: Document }
  sum: { type: NUMBER, mode: COMPUTED_ON_SAVE }
  fixed: { type: TEXT, default: usual, readonly: true }
`;

const fields = '{name}{mail}{age}{kind}{more}{cv}{photo}{pin}{people}{sum}{fixed}';

/** Definition and layout of each block. */
const blocks: Record<string, [definition: string, layout: string]> = {
  apply: [`drafts: true\ntitle: Application\n${elements}`, `${fields}{_draft_email}{_draft}{_save}`],
  paged: [
    `drafts: true\npages:\n  - { title: First, elements: [name, mail] }\n  - { title: Second, elements: [kind, more, cv] }\n  - { title: Third, elements: [people] }\n${elements}`,
    '<h1>Application</h1>{_draft_email}{_pages}',
  ],
  seats: ['drafts: true\nlimit: 1\nelements: { name: TEXT }', '{name}{_draft}{_save}'],
  closing: [
    'drafts: true\ncloses: 2999-01-01\nclosed: Too late\nelements: { name: { type: TEXT, label: Your name } }',
    '{name}{_draft}{_save}',
  ],
  members: ['drafts: true\nview_permission: [editors]\nelements: { name: TEXT }', '{name}{_draft}{_save}'],
  plain: ['elements: { name: TEXT }', '{name}{_save}'],
  unique: ['drafts: true\nelements: { mail: { type: EMAIL, unique: true } }', '{mail}{_draft}{_save}'],
  ajax: ['drafts: true\ntarget: ajax\nelements: { name: { type: TEXT, label: Name } }', '{name}{_draft}{_save}'],
};

const logic = `
export function validate(context) {
  if (context.request.form.name === 'refused') context.invalid('name', 'Logic refuses this');
}
export function sum(context) { return 42; }
`;

const open =
  "acl: { rights: { submitter: ['*'], editor: ['editors'], owner: ['*'] } }\nmail: { to: ['only@example.net'] }\n";

const settings: Record<string, string> = {
  kept: open,
  foreign: open,
  visited: `visitor: true\nkeep_drafts: 2 days\n${open}`,
  closed: "acl: { rights: { submitter: ['submitters'] } }\n",
  proved: `proof_of_work: true\n${open}`,
};

/** Apps with the same blocks. */
export async function writeApps(copy: ThemeCopy): Promise<void> {
  for (const [app, text] of Object.entries(settings)) {
    await copy.write(`main/apps/${app}/settings.yaml`, text);
    for (const [id, [definition, layout]] of Object.entries(blocks)) {
      await copy.write(`main/apps/${app}/blocks/${id}.yaml`, `${definition}\n`);
      await copy.write(`main/apps/${app}/blocks/${id}.html`, layout);
    }
  }
  await copy.write('main/apps/kept/blocks/apply.js', logic);
  await copy.write('main/apps/kept/blocks/seen.yaml', 'drafts: true\nview: drafted\nelements: { mail: EMAIL }\n');
  await copy.write('main/apps/kept/blocks/seen.html', '{mail}{_draft}{_save}');
}

export const TOKEN = /\/draft\/([\w-]{65})(?![\w-])/;

export type Sent = Partial<RowRequest>;

/** What the tests do with drafts. */
export function draftTools(stage: Stage) {
  const ask = (send: string, more: Sent = {}) => stage.send<Record<string, unknown>>({ send, ...more });
  const form = (target: string, given: Record<string, string | string[]>, more: Sent = {}) =>
    ask(`POST ${target}`, { accept: html, form: given, ...more });
  const tokenOf = (text: string): string => TOKEN.exec(text)?.[1] ?? '';
  return {
    ask,
    form,
    tokenOf,
    /** Saves a draft by the form of a page. */
    async save(target: string, given: Record<string, string | string[]>, more: Sent = {}): Promise<string> {
      const answer = await form(target, { ...given, _draft: '1' }, more);
      if (answer.status !== 303) throw new Error(`${answer.status} ${answer.text}`);
      return tokenOf(locationOf(answer).pathname);
    },
    /** Sends a form with files. */
    parts: (target: string, parts: readonly Part[], more: Sent = {}) =>
      ask(`POST ${target}`, {
        accept: html,
        body: formBody(parts),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        ...more,
      }),
    page: (app: string, token: string, more: Sent = {}) => ask(`GET ${app}/draft/${token}`, { accept: html, ...more }),
    read: (app: string, token: string) => ask(`GET ${app}/draft/${token}`),
    async records(app: string): Promise<({ id: string } & Record<string, unknown>)[]> {
      const { json } = await ask(`POST ${app}/search`, { as: 'mona', json: { query: '' } });
      return (json as unknown as { id: string; items: Record<string, unknown> }[]).map(({ id, items }) => ({
        ...items,
        id,
      }));
    },
    rows: (table: string) =>
      stage.host.run(
        async (strapi, name) =>
          strapi.db
            .connection(name as string)
            .orderBy('id')
            .select(),
        table,
      ) as Promise<Record<string, unknown>[]>,
  };
}
