import { useFetchClient } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import type {
  Deleted,
  DeleteMany,
  DraftList,
  FormInput,
  FormOutcome,
  HistoryList,
  HistoryQuery,
  ImportOptions,
  ImportPreview,
  ImportState,
  KeptColumns,
  RecordChange,
  RecordDetail,
  RecordForm,
  RecordInput,
  RecordsPage,
  RecordsQuery,
  RestoreInput,
  RightsMatrix,
  UndoPlan,
  UndoQuery,
  Why,
  WhyQuery,
} from '../../../shared/admin-api';
import { saveFile } from '../json-files';
import { type AppKey, address, appsApi, encoded, request, useAction } from './base';

/** Changes records: all that shows them or their number is out of date; after a refusal too, whose reason may be the change of another. */
const changed = ['AppsRecord', 'AppsApp', 'AppsSite'] as const;

/** A file with the options of its import, as a form. */
function formOf({ file, mapping, choices }: Omit<ImportArgument, keyof AppKey>): FormData {
  const form = new FormData();
  form.append('options', JSON.stringify({ ...choices, name: file.name, mapping } satisfies ImportOptions));
  form.append('files', file);
  return form;
}

/** What is sent of a block's form with new files. */
function withFiles(input: FormInput, files: readonly [field: string, file: File][]): FormData {
  const form = new FormData();
  form.append('options', JSON.stringify(input));
  for (const [field, file] of files) form.append(field, file);
  return form;
}

type ImportArgument = AppKey & {
  file: File;
  mapping: ImportOptions['mapping'];
  choices: Omit<ImportOptions, 'name' | 'mapping'>;
};

/** Endpoints of an app's records (shared/admin/records.ts). */
export const {
  useAppsRecordsQuery,
  useAppsRecordQuery,
  useAppsCreateRecordMutation,
  useAppsUpdateRecordMutation,
  useAppsDeleteRecordMutation,
  useAppsDeleteRecordsMutation,
  useAppsRevokeLinkMutation,
  useAppsDraftsQuery,
  useAppsDeleteDraftMutation,
  useAppsRecordFormQuery,
  useAppsSubmitFormMutation,
  useAppsPreviewImportMutation,
  useAppsImportRecordsMutation,
  useAppsImportStateQuery,
  useAppsImportedMutation,
} = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsRecords: build.query<RecordsPage, AppKey & RecordsQuery>({
      query: ({ site, app, ...params }) => request('records', { site, app }, { params }),
      providesTags: ['AppsRecord'],
    }),
    appsRecord: build.query<RecordDetail, AppKey & { id: string }>({
      query: ({ site, app, id }) => request('record', { site, app }, { params: { id } }),
      providesTags: ['AppsRecord'],
    }),
    appsCreateRecord: build.mutation<{ id: string }, AppKey & RecordInput>({
      query: ({ site, app, ...data }) => request('createRecord', { site, app }, { data }),
      invalidatesTags: changed,
    }),
    appsUpdateRecord: build.mutation<RecordDetail, AppKey & { id: string } & RecordChange>({
      query: ({ site, app, id, ...data }) => request('updateRecord', { site, app }, { params: { id }, data }),
      invalidatesTags: changed,
    }),
    appsDeleteRecord: build.mutation<{ success: 'deleted' }, AppKey & { id: string; onDelete: boolean }>({
      query: ({ site, app, id, onDelete }) =>
        request('deleteRecord', { site, app }, { params: { id, on_delete: onDelete } }),
      invalidatesTags: changed,
    }),
    appsRevokeLink: build.mutation<{ success: 'revoked' }, AppKey & { id: string; link: string }>({
      query: ({ site, app, ...params }) => request('revokeLink', { site, app }, { params }),
      invalidatesTags: ['AppsRecord'],
    }),
    appsDrafts: build.query<DraftList, AppKey>({
      query: (key) => request('drafts', { ...key }),
      providesTags: ['AppsRecord'],
    }),
    appsDeleteDraft: build.mutation<{ success: 'deleted' }, AppKey & { id: string }>({
      query: ({ site, app, ...params }) => request('deleteDraft', { site, app }, { params }),
      invalidatesTags: ['AppsRecord'],
    }),
    appsDeleteRecords: build.mutation<Deleted, AppKey & DeleteMany>({
      query: ({ site, app, ...data }) => request('deleteRecords', { site, app }, { data }),
      invalidatesTags: changed,
    }),
    appsRecordForm: build.query<RecordForm, AppKey & { block: string; id?: string }>({
      query: ({ site, app, ...params }) => request('recordForm', { site, app }, { params }),
      keepUnusedDataFor: 0,
    }),
    appsSubmitForm: build.mutation<FormOutcome, AppKey & FormInput & { files: [field: string, file: File][] }>({
      query: ({ site, app, files, ...input }) =>
        request('submitForm', { site, app }, { data: files.length > 0 ? withFiles(input, files) : input }),
      // A refused form has changed nothing, and its messages must stay.
      invalidatesTags: (done) => (done ? changed : []),
    }),
    appsPreviewImport: build.mutation<ImportPreview, ImportArgument>({
      query: ({ site, app, ...sent }) => request('previewImport', { site, app }, { data: formOf(sent) }),
    }),
    appsImportRecords: build.mutation<ImportState, ImportArgument>({
      query: ({ site, app, ...sent }) => request('importRecords', { site, app }, { data: formOf(sent) }),
    }),
    /** No request: an import has ended, so that what is shown is out of date. */
    appsImported: build.mutation<null, void>({
      queryFn: () => ({ data: null }),
      invalidatesTags: changed,
    }),
    appsImportState: build.query<ImportState, AppKey & { id: string }>({
      query: ({ site, app, id }) => request('importState', { site, app }, { params: { id } }),
      keepUnusedDataFor: 0,
    }),
  }),
});

/** Endpoints of the administrator's own columns (shared/admin/records.ts). */
export const { useAppsColumnsQuery, useAppsSetColumnsMutation } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsColumns: build.query<KeptColumns, AppKey>({
      query: (key) => request('columns', { ...key }),
      providesTags: ['AppsColumns'],
    }),
    appsSetColumns: build.mutation<KeptColumns, AppKey & KeptColumns>({
      query: ({ site, app, ...data }) => request('setColumns', { site, app }, { data }),
      invalidatesTags: ['AppsColumns'],
    }),
  }),
});

/** Endpoints that explain rights (shared/admin/why.ts). */
export const { useAppsWhyQuery, useAppsRightsMatrixQuery } = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsWhy: build.query<Why, WhyQuery>({
      query: (params) => request('why', {}, { params }),
      providesTags: ['AppsApp', 'AppsFile'],
    }),
    appsRightsMatrix: build.query<RightsMatrix, AppKey>({
      query: ({ site, app }) => request('rightsMatrix', { site, app }),
      providesTags: ['AppsApp', 'AppsFile'],
    }),
  }),
});

/** Endpoints of the history of an app's records (shared/admin/records.ts). */
export const { useAppsHistoryQuery, useAppsRestoreVersionMutation, useAppsUndoPlanQuery, useAppsUndoMutation } =
  appsApi.injectEndpoints({
    endpoints: (build) => ({
      appsHistory: build.query<HistoryList, AppKey & HistoryQuery>({
        query: ({ site, app, ...params }) => request('history', { site, app }, { params }),
        providesTags: ['AppsRecord'],
      }),
      appsRestoreVersion: build.mutation<{ created: boolean }, AppKey & RestoreInput>({
        query: ({ site, app, ...data }) => request('restoreVersion', { site, app }, { data }),
        invalidatesTags: changed,
      }),
      appsUndoPlan: build.query<UndoPlan, AppKey & UndoQuery>({
        query: ({ site, app, ...params }) => request('undoPlan', { site, app }, { params }),
        keepUnusedDataFor: 0,
      }),
      appsUndo: build.mutation<UndoPlan, AppKey & UndoQuery & Pick<UndoPlan, 'version'>>({
        query: ({ site, app, ...data }) => request('undo', { site, app }, { data }),
        invalidatesTags: changed,
      }),
    }),
  });

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
      const params = encoded({ id, ...(isSmall && { thumbnail: '1' }) });
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
