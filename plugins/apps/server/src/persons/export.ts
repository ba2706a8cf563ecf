import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { ExportedEntry, PersonKind, PersonName } from '../../../shared/admin-api';
import { isItems, type Json } from '../../../shared/json';
import { escapeHtml, type PageLocale, type ServiceMessage } from '../apps';
import { readableMoment } from '../common/time/moments';
import type { Files } from '../files/types';
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
function opening({ say, ...locale }: PageLocale, { address, user }: PersonName, at: Date, json: string): string {
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

const closing = ({ say }: PageLocale, isEmpty: boolean): string =>
  `${isEmpty ? `<p>${escapeHtml(say('person_nothing'))}</p>\n` : ''}</body></html>\n`;

/** An entry as a table of its values. @param isFirst whether its kind begins with it */
function tableOf({ say }: PageLocale, stored: Stored, isFirst: boolean): string {
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

const JSON_FILE = 'person.json';

export interface ExportTools {
  files(): Pick<Files['moves'], 'bytes'>;
  /** The language of the page. */
  locale(): Promise<PageLocale>;
  /** Receives why a file is missing in an export. */
  onError(error: unknown): void;
}

/**
 * A ZIP with `index.html`, `person.json` and a folder `files`. Nothing is held in memory but a batch: what is stored is read once for each
 * of the two, and each file while it is sent.
 */
export function exported(
  { files, locale, onError }: ExportTools,
  person: PersonName,
  all: () => AsyncIterable<Stored[]>,
  at: Date,
): Readable {
  const zip = new ZipFile();
  const stream = zip.outputStream as Readable;
  const contents = new Map<string, string>();
  zip.once('error', (error: Error) => stream.destroy(error));

  const add = async (source: Readable, path: string): Promise<void> => {
    source.once('error', (error) => stream.destroy(error));
    const left = () => source.destroy();
    stream.once('close', left);
    zip.addReadStream(source, path, { mtime: at, mode: 0o100644, forceDosTimestamp: true });
    await finished(source, { writable: false });
    stream.off('close', left);
  };

  const addFiles = async (): Promise<void> => {
    for (const [path, documentId] of contents) {
      if (stream.destroyed) return;
      const source = await files()
        .bytes(documentId)
        .catch((error: unknown) => onError(error));
      if (source) await add(source, path);
    }
  };

  const noted = async function* (): AsyncGenerator<Stored> {
    for await (const batch of all())
      for (const stored of batch) {
        for (const { path, documentId } of stored.contents) contents.set(path, documentId);
        yield stored;
      }
  };

  const work = async (): Promise<void> => {
    await add(Readable.from(jsonOf(person, noted(), at), { objectMode: false }), JSON_FILE);
    await add(Readable.from(htmlOf(await locale(), person, noted(), at), { objectMode: false }), 'index.html');
    await addFiles();
    zip.end();
  };
  work().catch((error: Error) => stream.destroy(error));
  return stream;
}

/** What of an entry is exported: what erasing would do to it says nothing about the person. */
function shownOf({ kind, site, app, id, at, data, files }: Stored): Omit<ExportedEntry, 'does' | 'items'> {
  return { kind, site, app, id, at, data, files };
}

async function* jsonOf(person: PersonName, all: AsyncIterable<Stored>, at: Date): AsyncGenerator<string> {
  yield `{"person":${JSON.stringify(person)},"exportedAt":${JSON.stringify(at.toISOString())},"entries":[`;
  let isFirst = true;
  for await (const stored of all) {
    yield `${isFirst ? '' : ','}\n${JSON.stringify(shownOf(stored))}`;
    isFirst = false;
  }
  yield '\n]}\n';
}

async function* htmlOf(
  locale: PageLocale,
  person: PersonName,
  all: AsyncIterable<Stored>,
  at: Date,
): AsyncGenerator<string> {
  yield opening(locale, person, at, JSON_FILE);
  let kind = '';
  for await (const stored of all) {
    yield tableOf(locale, stored, stored.kind !== kind);
    kind = stored.kind;
  }
  yield closing(locale, kind === '');
}
