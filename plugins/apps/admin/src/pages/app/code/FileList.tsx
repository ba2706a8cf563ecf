import { Box, Button, Field, Flex, MenuItem, SimpleMenu, Typography } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail, CodeFile, CodeFiles, CodeProblem } from '../../../../../shared/admin-api';
import { useAction } from '../../../api/base';
import {
  useAppsCreateBlockMutation,
  useAppsDeleteFileMutation,
  useAppsFileVersionsQuery,
  useAppsRenameFileMutation,
  useAppsWriteFileMutation,
  useLazyAppsFileVersionQuery,
} from '../../../api/code';
import { Section } from '../../../components/page';
import { useText } from '../../../plugin';

interface FileListProps {
  app: AppDetail;
  files: CodeFiles['files'];
  problems: CodeProblem[];
  chosen: string;
  isLocked: boolean;
  isUnsaved: boolean;
  onChoose(path: string): void;
}

/** The files of an app by folders; those with problems are marked. */
export function FileList({ app, files, problems, chosen, isLocked, isUnsaved, onChoose }: FileListProps) {
  const text = useText();
  const choose = (path: string) => {
    if (!isUnsaved || window.confirm(text('code.unsaved'))) onChoose(path);
  };
  return (
    <Section title={text('code.files')}>
      <Box tag="ul" maxHeight="60vh" overflow="auto">
        {files.map(({ path, isEditable }) => {
          const count = problems.filter(({ file }) => file === path).length;
          return (
            <li key={path}>
              <Button
                variant={path === chosen ? 'secondary' : 'ghost'}
                size="S"
                fullWidth
                justifyContent="flex-start"
                disabled={!isEditable}
                aria-current={path === chosen}
                onClick={() => choose(path)}
              >
                <Typography textColor={count > 0 ? 'danger600' : 'neutral800'}>
                  {count > 0 ? `${path} (${count})` : path}
                </Typography>
              </Button>
            </li>
          );
        })}
      </Box>
      {!isLocked && <NewFile app={app} onMade={choose} />}
    </Section>
  );
}

/** Makes a file of a path, or the files of a block of an id. */
function NewFile({ app, onMade }: { app: AppDetail; onMade(path: string): void }) {
  const text = useText();
  const act = useAction();
  const [name, setName] = useState('');
  const [writeFile] = useAppsWriteFileMutation();
  const [createBlock] = useAppsCreateBlockMutation();
  const key = { site: app.site, app: app.id };
  const isPath = name.includes('/') || name.includes('.');
  const make = async () => {
    const made = await act(async () => {
      if (isPath) return (await writeFile({ ...key, path: name, text: '', revision: null }).unwrap()).path;
      const { paths } = await createBlock({ ...key, block: name, language: 'js' }).unwrap();
      return paths[0];
    });
    if (made === undefined) return;
    setName('');
    onMade(made);
  };
  return (
    <Flex direction="column" alignItems="stretch" gap={2} paddingTop={4}>
      <Field.Root name="path">
        <Field.Label>{text('code.path')}</Field.Label>
        <Field.Input value={name} onChange={({ target }) => setName(target.value)} maxLength={255} />
      </Field.Root>
      <Button variant="tertiary" disabled={name === ''} onClick={make}>
        {text(isPath || name === '' ? 'code.new' : 'code.new.block')}
      </Button>
    </Flex>
  );
}

interface FileActionsProps {
  app: AppDetail;
  file: CodeFile;
  /** An earlier text is to be put into the editor. */
  onText(text: string): void;
  /** The file has another path. */
  onMoved(file: CodeFile): void;
  onGone(): void;
}

/** Renames and deletes a file, and brings earlier versions back into the editor. */
export function FileActions({ app, file, onText, onMoved, onGone }: FileActionsProps) {
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
