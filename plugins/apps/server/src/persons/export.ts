import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { ExportedEntry, PersonName } from '../../../shared/admin-api';
import type { PageLocale } from '../apps';
import type { Files } from '../files/types';
import { closing, opening, tableOf } from './page';
import type { Stored } from './types';

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
