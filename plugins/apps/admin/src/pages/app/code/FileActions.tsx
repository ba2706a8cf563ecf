import { Button, Field, MenuItem, SimpleMenu } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail, CodeFile } from '../../../../../shared/admin-api';
import { useAction } from '../../../api/base';
import {
  useAppsDeleteFileMutation,
  useAppsFileVersionsQuery,
  useAppsRenameFileMutation,
  useLazyAppsFileVersionQuery,
} from '../../../api/code';
import { useText } from '../../../plugin';

interface Props {
  app: AppDetail;
  file: CodeFile;
  /** An earlier text is to be put into the editor. */
  onText(text: string): void;
  /** The file has another path. */
  onMoved(file: CodeFile): void;
  onGone(): void;
}

/** Renames and deletes a file, and brings earlier versions back into the editor. */
export function FileActions({ app, file, onText, onMoved, onGone }: Props) {
  const text = useText();
  const act = useAction();
  const key = { site: app.site, app: app.id };
  const [to, setTo] = useState<string | null>(null);
  const [rename] = useAppsRenameFileMutation();
  const [remove] = useAppsDeleteFileMutation();
  const [readVersion] = useLazyAppsFileVersionQuery();
  const { data: versions = [] } = useAppsFileVersionsQuery({ ...key, path: file.path });
  const { path, revision } = file;
  const moveTo = async (wanted: string) => {
    const moved = wanted === path ? file : await act(() => rename({ ...key, path, to: wanted, revision }).unwrap());
    // A refused path stays, to be changed.
    if (!moved) return;
    setTo(null);
    onMoved(moved);
  };
  const removeIt = async () => {
    if (!window.confirm(text('code.delete.confirm', { path }))) return;
    if (await act(() => remove({ ...key, path, revision }).unwrap(), text('code.deleted'))) onGone();
  };
  const restore = async (version: number) => {
    const found = await act(() => readVersion({ ...key, version: String(version) }).unwrap());
    if (found) onText(found.text);
  };
  return (
    <>
      {to === null ? (
        <Button variant="tertiary" onClick={() => setTo(path)}>
          {text('code.rename')}
        </Button>
      ) : (
        <>
          <Field.Root name="to">
            <Field.Input aria-label={text('code.path')} value={to} onChange={({ target }) => setTo(target.value)} />
          </Field.Root>
          <Button variant="tertiary" onClick={() => moveTo(to)}>
            {text('code.rename')}
          </Button>
        </>
      )}
      <Button variant="danger-light" onClick={removeIt}>
        {text('delete')}
      </Button>
      <SimpleMenu label={text('code.versions')} variant="tertiary">
        {versions.length === 0 && <MenuItem disabled>{text('code.versions.none')}</MenuItem>}
        {versions.map(({ id, at, author }) => (
          <MenuItem key={id} onSelect={() => restore(id)}>
            {`${new Date(at).toLocaleString()} · ${author ?? ''}`}
          </MenuItem>
        ))}
      </SimpleMenu>
    </>
  );
}
