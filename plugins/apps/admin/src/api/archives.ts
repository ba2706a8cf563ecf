import type { ArchiveResult, LinkInput } from '../../../shared/admin-api';
import { appsApi, request } from './base';

/** Files of themes have changed: apps and blocks, and what they say, too. */
const changed = ['AppsSite', 'AppsApp', 'AppsFile', 'AppsRule'] as const;

interface ArchiveArgument {
  file: File;
  /** The theme that gets an app; without it the ZIP must hold a theme. */
  theme?: string;
  write: boolean;
  replace: boolean;
  /** Its tests run while it is checked. */
  tests?: boolean;
}

function formOf({ file, ...options }: ArchiveArgument): FormData {
  const form = new FormData();
  form.append('options', JSON.stringify({ name: file.name, ...options }));
  form.append('files', file);
  return form;
}

/** Endpoints of themes and apps as files (shared/admin/archives.ts). */
export const { useAppsImportArchiveMutation, useAppsCreateLinkMutation, useAppsDeleteLinkMutation } =
  appsApi.injectEndpoints({
    endpoints: (build) => ({
      appsImportArchive: build.mutation<ArchiveResult, ArchiveArgument>({
        query: (argument) => request('importArchive', {}, { data: formOf(argument) }),
        invalidatesTags: (done) => (done?.state === 'written' ? changed : []),
      }),
      appsCreateLink: build.mutation<LinkInput, { into: string } & LinkInput>({
        query: ({ into, ...data }) => request('createLink', { theme: into }, { data }),
        invalidatesTags: changed,
      }),
      appsDeleteLink: build.mutation<{ success: 'deleted' }, { from: string; app: string }>({
        query: ({ from, app }) => request('deleteLink', { theme: from }, { params: { app } }),
        invalidatesTags: changed,
      }),
    }),
  });
