import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { Box, Button, Field, Flex, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import { useEffect, useRef, useState } from 'react';
import type { AppDetail, CodeFile, CodeProblem, RunDetail } from '../../../../../shared/admin-api';
import { useAppsRunsQuery } from '../../../api/activity';
import { useAppsCodeHintsQuery, useAppsFilesQuery, useAppsPreviewMutation } from '../../../api/code';
import { useAppsRightsMatrixQuery } from '../../../api/records';
import { DataTable } from '../../../components/DataTable';
import { ChangedMeanwhile, ProblemNote, Section } from '../../../components/page';
import { PreviewResult, type Width, WidthButtons } from '../../../components/preview';
import { useMay } from '../../../permissions';
import { useText } from '../../../plugin';
import { useDebouncedRequest } from '../../../use-debounced';
import { Again, useRunAgain } from '../RunModal';
import { basics, Editor, languageOf, useColours } from './Editor';
import { FileActions, FileList } from './FileList';
import { editsOf, useFile } from './use-file';

interface PreviewProps {
  app: AppDetail;
  block: string;
  /** Texts that are not saved, by path. */
  files: Record<string, string>;
}

/** The page of a block as a requester sees it, with texts that are not saved. It follows what is typed. */
function PreviewPane({ app, block, files }: PreviewProps) {
  const text = useText();
  const [who, setWho] = useState('anonymous');
  const [content, setContent] = useState('');
  const [width, setWidth] = useState<Width>('desktop');
  const { data: matrix } = useAppsRightsMatrixQuery({ site: app.site, app: app.id });
  const [show] = useAppsPreviewMutation();
  const request = { site: app.site, app: app.id, block, who, content, files };
  const { answer, error, isLoading, refresh } = useDebouncedRequest(request, (wanted) => show(wanted).unwrap());
  const isAnyone = useMay()(['records']);
  const groups = isAnyone ? (matrix?.groups ?? []) : [];
  const people = ['anonymous', ...groups.map((name) => `group:${name}`)];
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Flex gap={3} wrap="wrap" alignItems="flex-end">
        <Field.Root name="who" {...(!isAnyone && { hint: text('code.preview.visitor') })}>
          <Field.Label>{text('code.preview.who')}</Field.Label>
          <SingleSelect value={who} onChange={(chosen) => setWho(String(chosen))}>
            {people.map((one) => (
              <SingleSelectOption key={one} value={one}>
                {one.replace(/^group:/, '')}
              </SingleSelectOption>
            ))}
          </SingleSelect>
          <Field.Hint />
        </Field.Root>
        <Field.Root name="content">
          <Field.Label>{text('code.preview.content')}</Field.Label>
          <Field.Input value={content} onChange={({ target }) => setContent(target.value)} maxLength={400} />
        </Field.Root>
        <WidthButtons width={width} onChoose={setWidth} />
        <Button variant="tertiary" loading={isLoading} onClick={refresh}>
          {text('code.preview.refresh')}
        </Button>
      </Flex>
      <PreviewResult title={text('code.preview')} answer={answer} error={error} width={width} />
    </Flex>
  );
}

interface ConflictProps {
  path: string;
  mine: string;
  /** What is on the disk; null: the file was deleted. */
  theirs: CodeFile | null;
  onMine(): void;
  onTheirs(): void;
}

/** A file that has changed meanwhile: both texts side by side; nothing is written before the administrator chooses. */
function Conflict({ path, mine, theirs, onMine, onTheirs }: ConflictProps) {
  const text = useText();
  const place = useRef<HTMLDivElement>(null);
  const colours = useColours();
  const current = theirs?.text ?? '';
  const [onDisk, own] = [text('code.conflict.disk', { path }), text('code.conflict.own', { path })];
  useEffect(() => {
    const extensions = (label: string) => [
      ...[basics, languageOf(path), EditorState.readOnly.of(true), EditorView.lineWrapping, colours],
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ];
    const view = new MergeView({
      a: { doc: current, extensions: extensions(onDisk) },
      b: { doc: mine, extensions: extensions(own) },
      parent: place.current as HTMLDivElement,
    });
    return () => view.destroy();
  }, [path, mine, current, colours, onDisk, own]);
  return (
    <ChangedMeanwhile message={text('code.conflict')} onMine={onMine} onTheirs={onTheirs}>
      <div ref={place} style={{ overflow: 'auto', maxHeight: '60vh', fontSize: '1.4rem' }} />
    </ChangedMeanwhile>
  );
}

/** Runs that are listed, and milliseconds between two requests. */
const MAX_RUNS = 5;
const POLL_INTERVAL = 5_000;

interface FailedRunsProps {
  app: AppDetail;
  block: string;
  /** Texts that are not saved, by path. */
  files: Record<string, string>;
  /** Gets what fails in the app's files when a run is run again. */
  onFailures(problems: CodeProblem[]): void;
}

/** The latest failed runs of a block; each can run again with what the editor holds, without writing. */
function FailedRuns({ app, block, files, onFailures }: FailedRunsProps) {
  const text = useText();
  const query = { site: app.site, app: app.id, block, state: 'failed' as const, limit: MAX_RUNS };
  const { data } = useAppsRunsQuery(query, { pollingInterval: POLL_INTERVAL, refetchOnMountOrArgChange: true });
  const { runAgain, repeated, isLoading } = useRunAgain();
  const isEdited = Object.keys(files).length > 0;
  const again = async (id: string) => {
    const done = await runAgain(id, files);
    if (done) onFailures(failuresOf(app, done.runs));
  };
  return (
    <>
      <DataTable
        label={text('code.runs', { block })}
        empty={text('code.runs.none')}
        rows={data?.runs ?? []}
        rowKey={({ id }) => id}
        columns={[
          { title: text('run.at'), cell: ({ at }) => new Date(at).toLocaleString() },
          { title: text('run.requester'), cell: ({ requester }) => requester.name ?? text('creator.anonymous') },
          {
            title: text('run.address'),
            cell: ({ method, address }) => <code style={{ overflowWrap: 'anywhere' }}>{`${method} ${address}`}</code>,
          },
          { title: text('run.error'), cell: ({ error }) => error && <ProblemNote problem={error} /> },
          {
            title: text('actions'),
            cell: ({ id, hasInput }) =>
              hasInput ? (
                <Button
                  variant="secondary"
                  size="S"
                  disabled={isLoading}
                  onClick={() => again(id)}
                  style={{ whiteSpace: 'nowrap' }}
                >
                  {text(isEdited ? 'run.again.edits' : 'run.again')}
                </Button>
              ) : (
                <Typography textColor="neutral600">{text('code.runs.debug')}</Typography>
              ),
          },
        ]}
      />
      {repeated && <Again {...repeated} />}
    </>
  );
}

/** The errors of runs in the files of the app, as the editor shows problems. */
function failuresOf({ id }: AppDetail, runs: RunDetail[]): CodeProblem[] {
  return runs.flatMap(({ error }) =>
    error && error.app === id && error.file !== '' ? [{ ...error, severity: 'error' as const, cure: null }] : [],
  );
}

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
            app={app}
            problems={problems}
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
                  app={app}
                  path={path}
                  hints={hints}
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
