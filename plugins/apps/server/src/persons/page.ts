import type { PersonKind, PersonName } from '../../../shared/admin-api';
import { isItems, type Json } from '../../../shared/json';
import { escapeHtml } from '../apps';
import type { Stored } from './types';

/** Headings of the kinds of entries, in English: the file is made for one person by an operator, who adds what they need. */
const headings: Record<PersonKind, string> = {
  records: 'Records',
  files: 'Files',
  history: 'Versions of records',
  mails: 'Mails',
  jobs: 'Jobs',
  runs: 'Runs of logic',
  answers: 'Answers of requests',
  audit: 'What administrators have done in this name',
};

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}table{border-collapse:collapse;width:100%;margin:0 0 2rem}th,td{border:1px solid #767676;padding:.3rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}th{width:12rem}td{white-space:pre-wrap}caption{text-align:left;font-weight:600;padding:.3rem 0}';

/** The beginning of the page. It runs nothing and loads nothing, whatever the values are. */
export function opening({ address, user }: PersonName, at: Date): string {
  const who = [address, user?.name].filter((one) => one !== null && one !== undefined).join(', ');
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Data of ${escapeHtml(who)}</title><style>${STYLE}</style></head><body>
<h1>Data of ${escapeHtml(who)}</h1>
<p>Exported at <time>${at.toISOString()}</time>. The same is in <a href="person.json">person.json</a>.</p>
`;
}

export const closing = (isEmpty: boolean): string => `${isEmpty ? '<p>Nothing is stored.</p>\n' : ''}</body></html>\n`;

/** An entry as a table of its values. @param isFirst whether its kind begins with it */
export function rowsOf({ kind, site, app, id, at, data, files }: Stored, isFirst: boolean): string {
  const { items, ...others } = data;
  const values = isItems(items ?? null) ? { ...others, ...(items as object) } : data;
  const rows = Object.entries(values as Record<string, Json>).map(([name, value]) =>
    row(name, escapeHtml(readable(value))),
  );
  const links = files.map((path) => row('file', `<a href="${escapeHtml(addressOf(path))}">${escapeHtml(path)}</a>`));
  const where = [app, site].filter((one) => one !== null).join(' · ');
  const caption = [id, where, at].filter(Boolean).join(' — ');
  const heading = isFirst ? `<h2>${headings[kind]}</h2>\n` : '';
  return `${heading}<table><caption>${escapeHtml(caption)}</caption><tbody>${[...rows, ...links].join('')}</tbody></table>\n`;
}

const row = (name: string, html: string): string => `<tr><th scope="row">${escapeHtml(name)}</th><td>${html}</td></tr>`;

const addressOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const readable = (value: Json): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
