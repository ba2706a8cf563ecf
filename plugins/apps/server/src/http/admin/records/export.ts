import { z } from 'zod';
import { separatorNames } from '../../../../../shared/cells';
import { declaredCells, shownRecords } from '../../../apps';
import { must, readParameters } from '../../../common/request-schema';
import { encoded } from '../../../common/time/pieces';
import { csvTable, XLSX_TYPE, xlsxTable } from '../../../interchange';
import type { StoredRecord } from '../../../records/types';
import type { HttpServices } from '../../request/exchange';
import { resumed, streamed } from '../../response/stream';
import { appOf, type Handle, type PanelApp } from '../handler';
import { plainSearch } from './plain-search';

const parameters = z.object({
  format: z.enum(['csv', 'xlsx', 'ndjson'], must('"csv", "xlsx" or "ndjson"')),
  separator: z.enum(separatorNames, must('"comma", "semicolon" or "tab"')).default('comma'),
  query: z.string(must('a text')).default(''),
});

type Batches = () => AsyncIterable<StoredRecord[]>;

const types = { csv: 'text/csv', xlsx: XLSX_TYPE, ndjson: 'application/x-ndjson' };

/** `exportRecords`: all records of an app, or those that a query finds, as a file (docs/reference/import-export.md#csv). */
export const exportRecords: Handle = async (ctx, services) => {
  const found = await appOf(ctx, services);
  const { format, separator, query } = readParameters(parameters, ctx.query);
  const batches = batchesOf(services, found, query);
  const options = { declared: declaredCells(found.app), isWhole: true };
  const chunks: AsyncGenerator<Buffer> =
    format === 'csv'
      ? csvTable(shown(services, found, batches), { ...options, separator, hasMark: true })
      : format === 'xlsx'
        ? xlsxTable(shown(services, found, batches), options)
        : ndjson(batches);
  // The first piece is read before the answer begins, so that a bad query is still a clean error.
  const first = await chunks.next();
  ctx.type = types[format];
  ctx.set('Content-Disposition', `attachment; filename="${found.app.id}.${format}"`);
  ctx.set('Cache-Control', 'private, no-store');
  ctx.set('X-Content-Type-Options', 'nosniff');
  return streamed(ctx, resumed(first, chunks));
};

function batchesOf({ store }: HttpServices, { app, key }: PanelApp, query: string): Batches {
  if (query.trim() === '') return () => store.stream(key);
  const search = plainSearch(query, app.indexes) ?? { query };
  return () => store.streamMatches(key, app.indexes, search);
}

/** The records with the addresses of their files: a table is read by people, NDJSON keeps what is stored. */
function shown({ files }: HttpServices, { key }: PanelApp, batches: Batches): Batches {
  return async function* () {
    for await (const batch of batches()) yield await shownRecords(files, key, batch);
  };
}

const ndjson = (batches: Batches): AsyncGenerator<Buffer> =>
  encoded(batches(), ({ id, creator, items }) => `${JSON.stringify({ id, creator, items })}\n`);
