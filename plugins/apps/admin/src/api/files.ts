import { useFetchClient } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import { saveFile } from '../json-files';
import { type AppKey, address, useAction } from './base';

/** A file of a record, as the server shows it. */
export interface RecordFile {
  url: string;
  name: string;
  mime?: string;
  /** Address of a small picture of an image. */
  thumbnail?: string;
}

/** An address of a private file, `<site>/@@apps/<app>/files/<id>/<name>`: the site refuses the panel, which has no cookie there. */
const PRIVATE = /\/([^/]+)\/@@apps\/([^/]+)\/files\/([^/]+)\/[^/]+$/;

/** The media type of an answer that is the address at which a storage has the file. */
const ADDRESS = 'text/uri-list';

/** The app and the id of a private file; null for any other address. */
export function privateFile(url: string): (AppKey & { id: string }) | null {
  const [, site, app, id] = (PRIVATE.exec(url.split('?')[0] ?? '') ?? []).map(decodeURIComponent);
  return site === undefined || app === undefined || id === undefined ? null : { site, app, id };
}

/** Reads private files with the administrator's own permission. */
export function usePrivateFiles() {
  const { get } = useFetchClient();
  const act = useAction();

  /** The bytes of a file or of its small picture, or where they are. */
  const read = useCallback(
    async (url: string, isSmall: boolean): Promise<{ bytes: Blob } | { address: string }> => {
      const { site = '', app = '', id } = privateFile(url) ?? {};
      const params = { id, ...(isSmall && { thumbnail: '1' }) };
      const { data } = await get<Blob>(address('recordFile', { site, app }), { params, responseType: 'blob' });
      return data.type.startsWith(ADDRESS) ? { address: await data.text() } : { bytes: data };
    },
    [get],
  );

  /** Lets the browser save a file. */
  const save = useCallback(
    ({ url, name }: RecordFile) =>
      act(async () => {
        const found = await read(url, false);
        if ('bytes' in found) saveFile(found.bytes, name);
        else window.open(found.address, '_blank', 'noopener,noreferrer');
      }),
    [act, read],
  );
  return { read, save };
}
