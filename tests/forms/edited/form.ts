import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';

export type Fields = [name: string, value: string][];

const decode = (text: string) =>
  text.replace(
    /&(lt|gt|quot|#39|amp);/g,
    (_, name) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name as 'lt'],
  );
const attribute = (tag: string, name: string) => {
  const [, value] = new RegExp(` ${name}="([^"]*)"`).exec(tag) ?? [];
  return value === undefined ? undefined : decode(value);
};

/** What a control makes of its value. */
function inControl(type: string | undefined, value: string): string {
  if (type === 'hidden') return value;
  const line = value.replace(/[\r\n]/g, '');
  return type === 'email' || type === 'url' ? line.trim() : line;
}

/** The fields that a browser sends for the form of a page, without its buttons; line breaks are those of the page. */
export function fieldsIn(page: string): Fields {
  const fields: Fields = [];
  const form = /<form [^>]*class="apps-block.*?<\/form>/s.exec(page)?.[0] ?? '';
  const controls = /<input\b[^>]*>|<textarea\b[^>]*>.*?<\/textarea>|<select\b[^>]*>.*?<\/select>/gs;
  for (const [control] of form.matchAll(controls)) {
    const [tag = ''] = /^<[^>]*>/.exec(control) ?? [];
    const name = attribute(tag, 'name');
    const type = attribute(tag, 'type');
    if (name === undefined || / disabled\b/.test(tag) || type === 'file' || type === 'search') continue;
    if (/^<select/.test(control)) {
      const options = [...control.matchAll(/<option\b[^>]*>/g)].map(([option]) => option);
      const chosen = options.filter((option) => / selected\b/.test(option));
      const sent = / multiple\b/.test(tag) ? chosen : [chosen.at(-1) ?? options[0] ?? ''];
      for (const option of sent) fields.push([name, attribute(option, 'value') ?? '']);
    } else if (/^<textarea/.test(control))
      fields.push([name, decode(control.replace(/^<[^>]*>\n?|<\/textarea>$/g, ''))]);
    else if (type !== 'checkbox' && type !== 'radio')
      fields.push([name, inControl(type, attribute(tag, 'value') ?? '')]);
    else if (/ checked\b/.test(tag)) fields.push([name, attribute(tag, 'value') ?? 'on']);
  }
  return fields;
}

export type Form = Record<string, string | string[]>;

/** Fields as `stage.send` takes them, with others in place of those of the same name. */
export function formOf(fields: Fields, changed: Form = {}): Form {
  const form: Form = {};
  for (const [name, value] of fields) {
    const before = form[name];
    form[name] = before === undefined ? value : [before, value].flat();
  }
  return { ...form, ...changed };
}

/** Opens pages and sends their forms, as browsers without a script do. */
export function forms(stage: Stage) {
  const open = async (path: string): Promise<Fields> => {
    const { text, status } = await stage.send({ send: `GET ${path}`, accept: html });
    if (status !== 200) throw new Error(`${status} ${text}`);
    return fieldsIn(text);
  };
  const post = <T = unknown>(path: string, form: Form, accept = html) =>
    stage.send<T>({ send: `POST ${path}`, accept, form, csrf: false });
  return { open, post };
}
