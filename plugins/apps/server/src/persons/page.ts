import type { PersonKind, PersonName } from '../../../shared/admin-api';
import { isItems, type Json } from '../../../shared/json';
import { escapeHtml, type PageLocale, type ServiceMessage } from '../apps';
import { readableMoment } from '../common/values/moments';
import type { Stored } from './types';

/** Headings of the kinds of entries; files are links of their records. */
const headings: Record<Exclude<PersonKind, 'files'>, ServiceMessage> = {
  records: 'person_records',
  drafts: 'person_drafts',
  history: 'person_history',
  mails: 'person_mails',
  jobs: 'person_jobs',
  runs: 'person_runs',
  answers: 'person_answers',
  audit: 'person_audit',
};

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}table{border-collapse:collapse;width:100%;margin:0 0 2rem}th,td{border:1px solid #767676;padding:.3rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}th{width:12rem}td{white-space:pre-wrap}caption{text-align:left;font-weight:600;padding:.3rem 0}';

/** Stands for the link in a message while that is escaped. */
const LINK = '\0';

/** The beginning of the page. It runs nothing and loads nothing, whatever the values are. @param json the name of the file with the same */
export function opening({ say, ...locale }: PageLocale, { address, user }: PersonName, at: Date, json: string): string {
  const who = [address, user?.name].filter((one) => one !== null && one !== undefined).join(', ');
  const title = escapeHtml(say('person_title', { who }));
  const exported = escapeHtml(say('person_exported', { at: readableMoment(at.toISOString(), locale), file: LINK }));
  return `<!doctype html>
<html lang="${escapeHtml(locale.tag)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${STYLE}</style></head><body>
<h1>${title}</h1>
<p>${exported.replace(LINK, `<a href="${json}">${json}</a>`)}</p>
`;
}

export const closing = ({ say }: PageLocale, isEmpty: boolean): string =>
  `${isEmpty ? `<p>${escapeHtml(say('person_nothing'))}</p>\n` : ''}</body></html>\n`;

/** An entry as a table of its values. @param isFirst whether its kind begins with it */
export function tableOf({ say }: PageLocale, stored: Stored, isFirst: boolean): string {
  const { kind, site, app, id, at, data, labels, files } = stored;
  const { items = null, ...others } = data;
  const values = isItems(items) ? { ...others, ...items } : data;
  const rows = Object.entries(values).map(([name, value]) => row(labels[name] ?? name, escapeHtml(readable(value))));
  const links = files.map((path) => row('', `<a href="${escapeHtml(addressOf(path))}">${escapeHtml(path)}</a>`));
  const caption = [id, [app, site].filter((one) => one !== null).join(' · '), at].filter(Boolean).join(' — ');
  const heading = isFirst && kind !== 'files' ? `<h2>${escapeHtml(say(headings[kind]))}</h2>\n` : '';
  return `${heading}<table><caption>${escapeHtml(caption)}</caption><tbody>${[...rows, ...links].join('')}</tbody></table>\n`;
}

const row = (name: string, html: string): string => `<tr><th scope="row">${escapeHtml(name)}</th><td>${html}</td></tr>`;

const addressOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const readable = (value: Json): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
