import type {
  Deleted,
  DeleteMany,
  DraftList,
  FormInput,
  FormOutcome,
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
  RightsMatrix,
  Why,
  WhyQuery,
} from '../../../shared/admin-api';
import { type AppKey, appsApi, request } from './base';

/** Changes records: all that shows them or their number is out of date. */
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
    appsImportState: build.query<ImportState, AppKey>({
      query: (key) => request('importState', { ...key }),
      keepUnusedDataFor: 0,
    }),
  }),
});

/** Endpoints of the administrator's own columns (shared/admin/columns.ts). */
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
