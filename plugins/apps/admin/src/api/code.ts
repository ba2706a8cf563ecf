import type {
  CodeFile,
  CodeFiles,
  CodeHints,
  CodeProblem,
  CodeTexts,
  FileRename,
  FileVersion,
  FileWrite,
  Preview,
  PreviewRequest,
} from '../../../shared/admin-api';
import { type AppKey, appsApi, request } from './base';

const keyOf = ({ site, app }: AppKey) => ({ site, app });

/** Endpoints of the files of an app (shared/admin/code.ts). */
export const {
  useAppsFilesQuery,
  useLazyAppsFileQuery,
  useAppsWriteFileMutation,
  useAppsRenameFileMutation,
  useAppsDeleteFileMutation,
  useAppsFileVersionsQuery,
  useLazyAppsFileVersionQuery,
  useAppsCheckFilesMutation,
  useAppsPreviewMutation,
  useAppsCreateBlockMutation,
  useAppsCodeHintsQuery,
  useAppsAppTemplatesQuery,
  useAppsCreateAppMutation,
} = appsApi.injectEndpoints({
  endpoints: (build) => ({
    appsFiles: build.query<CodeFiles, AppKey>({
      query: (key) => request('files', keyOf(key)),
      providesTags: ['AppsFile'],
    }),
    appsCodeHints: build.query<CodeHints, void>({ query: () => request('codeHints') }),
    appsFile: build.query<CodeFile, AppKey & { path: string }>({
      query: ({ path, ...key }) => request('file', keyOf(key), { params: { path } }),
    }),
    appsWriteFile: build.mutation<CodeFile, AppKey & FileWrite>({
      query: ({ site, app, ...data }) => request('writeFile', { site, app }, { data }),
      invalidatesTags: (_result, error) => (error ? [] : ['AppsFile', 'AppsApp']),
    }),
    appsRenameFile: build.mutation<CodeFile, AppKey & FileRename>({
      query: ({ site, app, ...data }) => request('renameFile', { site, app }, { data }),
      invalidatesTags: ['AppsFile', 'AppsApp'],
    }),
    appsDeleteFile: build.mutation<{ success: 'deleted' }, AppKey & { path: string; revision: string }>({
      query: ({ site, app, ...params }) => request('deleteFile', { site, app }, { params }),
      invalidatesTags: ['AppsFile', 'AppsApp'],
    }),
    appsFileVersions: build.query<FileVersion[], AppKey & { path: string }>({
      query: ({ path, ...key }) => request('fileVersions', keyOf(key), { params: { path } }),
      providesTags: ['AppsFile'],
    }),
    appsFileVersion: build.query<{ text: string }, AppKey & { version: string }>({
      query: ({ version, ...key }) => request('fileVersion', { ...keyOf(key), version }),
    }),
    appsCheckFiles: build.mutation<{ problems: CodeProblem[] }, AppKey & CodeTexts>({
      query: ({ files, ...key }) => request('checkFiles', keyOf(key), { data: { files } }),
    }),
    appsPreview: build.mutation<Preview, AppKey & PreviewRequest>({
      query: ({ site, app, ...data }) => request('preview', { site, app }, { data }),
    }),
    appsCreateBlock: build.mutation<{ paths: string[] }, AppKey & { block: string; language: string }>({
      query: ({ site, app, ...data }) => request('createBlock', { site, app }, { data }),
      invalidatesTags: ['AppsFile', 'AppsApp'],
    }),
    appsAppTemplates: build.query<string[], void>({ query: () => request('appTemplates') }),
    appsCreateApp: build.mutation<{ app: string }, AppKey & { template: string | null }>({
      query: ({ site, ...data }) => request('createApp', { site }, { data }),
      invalidatesTags: (_result, error) => (error ? [] : ['AppsSite', 'AppsApp', 'AppsFile']),
    }),
  }),
});
