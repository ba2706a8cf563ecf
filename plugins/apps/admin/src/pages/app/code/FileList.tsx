import { Box, Button, Field, Flex, Typography } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail, CodeFiles, CodeProblem } from '../../../../../shared/admin-api';
import { useAction } from '../../../api/base';
import { useAppsCreateBlockMutation, useAppsWriteFileMutation } from '../../../api/code';
import { Section } from '../../../components/Section';
import { useText } from '../../../plugin';

interface Props {
  app: AppDetail;
  files: CodeFiles['files'];
  problems: CodeProblem[];
  chosen: string;
  isLocked: boolean;
  isUnsaved: boolean;
  onChoose(path: string): void;
}

/** The files of an app by folders; those with problems are marked. */
export function FileList({ app, files, problems, chosen, isLocked, isUnsaved, onChoose }: Props) {
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
