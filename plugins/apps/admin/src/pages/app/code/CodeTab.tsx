import { Box, Button, Flex, Typography } from '@strapi/design-system';
import { useEffect, useState } from 'react';
import type { AppDetail, CodeProblem } from '../../../../../shared/admin-api';
import { useAppsCodeHintsQuery, useAppsFilesQuery } from '../../../api/code';
import { ProblemNote } from '../../../components/ProblemNote';
import { Section } from '../../../components/Section';
import { useText } from '../../../plugin';
import { Conflict } from './Conflict';
import { editsOf } from './drafts';
import { Editor } from './Editor';
import { FailedRuns } from './FailedRuns';
import { FileActions } from './FileActions';
import { FileList } from './FileList';
import { PreviewPane } from './PreviewPane';
import { useFile } from './use-file';

const blockOf = (path: string): string | null => /^blocks\/([^/]+)\.[a-z]+$/.exec(path)?.[1] ?? null;

/** The files of an app: changed, checked and previewed. */
export default function CodeTab({ app }: { app: AppDetail }) {
  const text = useText();
  const { data } = useAppsFilesQuery({ site: app.site, app: app.id });
  const { data: hints } = useAppsCodeHintsQuery();
  const locked = data?.locked ?? null;
  const {
    opened,
    changed,
    theirs,
    problems: found,
    choose,
    save,
    edit,
    move,
    takeTheirs,
    close,
  } = useFile(app, locked !== null, () => window.confirm(text('code.unsaved')));
  // What failed when a run was run again, until the text changes.
  const [failures, setFailures] = useState<CodeProblem[]>([]);
  const current = opened?.text;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines of another text are others
  useEffect(() => setFailures([]), [current]);
  const problems = [...failures, ...found];
  const files = locked === null ? editsOf(opened) : {};
  const path = opened?.file.path ?? '';
  const block = blockOf(path) ?? app.blocks[0]?.id;
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      {locked !== null && <Typography textColor="neutral600">{locked}</Typography>}
      <Flex gap={4} alignItems="stretch" wrap="wrap">
        <Box flex="1 1 24rem" minWidth="0">
          <FileList
            {...{ app, problems }}
            files={data?.files ?? []}
            chosen={path}
            isLocked={locked !== null}
            isUnsaved={changed !== null}
            onChoose={choose}
          />
        </Box>
        <Flex direction="column" alignItems="stretch" gap={4} flex="100 1 46rem" minWidth="0">
          <Section title={path || text('code')}>
            {!opened && <Typography textColor="neutral600">{text('code.choose')}</Typography>}
            {opened && theirs && (
              <Conflict
                path={path}
                mine={opened.text}
                theirs={theirs.current}
                onMine={() => save(theirs.current?.revision ?? null)}
                onTheirs={takeTheirs}
              />
            )}
            {opened && !theirs && (
              <Flex direction="column" alignItems="stretch" gap={3}>
                <Flex gap={2} wrap="wrap">
                  <Button disabled={locked !== null || changed === null} onClick={() => save()}>
                    {text('code.save')}
                  </Button>
                  {locked === null && (
                    <FileActions app={app} file={opened.file} onText={edit} onMoved={move} onGone={close} />
                  )}
                  {changed !== null && <Typography textColor="neutral600">{text('code.unsaved')}</Typography>}
                </Flex>
                <Editor
                  {...{ app, path, hints }}
                  text={opened.text}
                  readOnly={locked !== null}
                  problems={problems.filter(({ file }) => file === path)}
                  label={path}
                  onChange={edit}
                  onSave={save}
                />
              </Flex>
            )}
          </Section>
          <Section title={text('code.problems')}>
            {problems.length === 0 && <Typography textColor="neutral600">{text('code.problems.none')}</Typography>}
            {problems.map((problem) => (
              <ProblemNote
                key={`${problem.file}:${problem.line}:${problem.column} ${problem.message}`}
                problem={problem}
              />
            ))}
          </Section>
          {block !== undefined && (
            <Section title={text('code.runs', { block })}>
              <FailedRuns key={block} app={app} block={block} files={files} onFailures={setFailures} />
            </Section>
          )}
        </Flex>
        {block !== undefined && (
          // Beside the code where the three columns have the room, else below it.
          <Box flex="100 1 42rem" minWidth="0">
            <Section title={`${text('code.preview')}: ${block}`}>
              <PreviewPane app={app} block={block} files={files} />
            </Section>
          </Box>
        )}
      </Flex>
    </Flex>
  );
}
