import { Badge, Button, Flex, Modal, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import { useState } from 'react';
import type { RunAgain, RunDetail, RunState } from '../../../../shared/admin-api';
import { useAppsRunAgainMutation, useAppsRunQuery } from '../../api/activity';
import { useAction, useErrorText } from '../../api/base';
import { Labelled, ProblemNote } from '../../components/page';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { draftOf, editsOf } from './code/use-file';

const colours: Record<RunState, { backgroundColor: string; textColor: string }> = {
  done: { backgroundColor: 'success100', textColor: 'success700' },
  failed: { backgroundColor: 'danger100', textColor: 'danger700' },
  refused: { backgroundColor: 'neutral150', textColor: 'neutral800' },
};

/** How a run has ended. */
export function StateBadge({ state }: { state: RunState }) {
  const text = useText();
  return <Badge {...colours[state]}>{text(`run.state.${state}`)}</Badge>;
}

/** A run: its state, its error, its log and its input. */
function RunDetails({ run }: { run: RunDetail }) {
  const text = useText();
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Flex gap={2}>
        <StateBadge state={run.state} />
        <Typography>{run.requester.name ?? text('creator.anonymous')}</Typography>
        <Typography textColor="neutral600">
          {text('run.cost.text', { time: run.time, memory: Math.round(run.memory / 1024), hostCalls: run.hostCalls })}
        </Typography>
      </Flex>
      {run.cache && (
        <Typography textColor="neutral600">
          {run.cache === 'kept' ? text('run.kept') : text('run.notKept', { reason: run.cache })}
        </Typography>
      )}
      {run.error && <ProblemNote problem={run.error} />}
      {run.isHidden && <Typography textColor="neutral600">{text('run.hidden')}</Typography>}
      {run.logs.length > 0 && (
        <Labelled label={text('run.log')}>
          {run.logs
            .map(({ level, block, line, message }) => `${level} ${block ?? ''}:${line ?? ''} ${message}`)
            .join('\n')}
        </Labelled>
      )}
      {run.input && <Labelled label={text('run.input')}>{JSON.stringify(run.input, null, 2)}</Labelled>}
    </Flex>
  );
}

/** What a run has done that ran again: its runs, what it would have written, its answer. */
export function Again({
  again,
  edited,
}: {
  again: RunAgain /** The unsaved file it ran with. */;
  edited?: string | undefined;
}) {
  const text = useText();
  const isEmpty = Object.values(again.writes).every(({ length }) => length === 0);
  return (
    <Flex direction="column" alignItems="stretch" gap={3} paddingTop={4}>
      <Typography variant="delta" tag="h3">
        {edited === undefined ? text('run.again.done') : text('run.again.done.edits', { path: edited })}
      </Typography>
      <Typography textColor="neutral600">
        {text('run.again.as', { name: again.requester.name ?? text('creator.anonymous') })}
      </Typography>
      {again.runs.map((run, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list of one answer never changes
        <RunDetails key={at} run={run} />
      ))}
      <Typography textColor="neutral600">{text(isEmpty ? 'run.again.nothing' : 'run.again.writes')}</Typography>
      {!isEmpty && <Labelled label={text('run.again.writes')}>{JSON.stringify(again.writes, null, 2)}</Labelled>}
      <Labelled label={text('run.answer', { status: again.status })}>{again.answer.slice(0, 5_000)}</Labelled>
    </Flex>
  );
}

/** What a run did that ran again, and the unsaved file with which it ran. */
interface Repeated {
  run: string;
  again: RunAgain;
  edited: string | undefined;
}

/** Runs something again, with the saved code or with unsaved texts; nothing is written. */
export function useRunAgain() {
  const act = useAction();
  const [send, { isLoading }] = useAppsRunAgainMutation();
  const [repeated, setRepeated] = useState<Repeated | null>(null);
  const runAgain = async (run: string, files: Record<string, string> = {}) => {
    const again = await act(() => send({ run, files }).unwrap());
    if (!again) return null;
    const [edited] = Object.keys(files);
    setRepeated({ run, again, edited });
    return again;
  };
  return { runAgain, repeated, isLoading };
}

/** One run: its log, its error and its input; where it failed in debug mode, it can run again without writing. */
export function RunModal({ id, onClose }: { id: string; onClose(): void }) {
  const text = useText();
  const textOf = useErrorText();
  const { data: run, error } = useAppsRunQuery(id);
  const { runAgain, repeated, isLoading } = useRunAgain();
  const edits = run ? editsOf(draftOf({ site: run.site, id: run.app })) : {};
  return (
    <Modal.Root open onOpenChange={(open) => !open && onClose()}>
      <Modal.Content>
        <Modal.Header>
          <Modal.Title>{run ? `${run.method} ${run.address}` : text('run')}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {error ? textOf(error) : !run && <Page.Loading />}
          {run && <RunDetails run={run} />}
          {repeated && <Again {...repeated} />}
        </Modal.Body>
        <Modal.Footer>
          <Modal.Close>
            <Button variant="tertiary">{text('close')}</Button>
          </Modal.Close>
          {run?.hasInput && (
            <AgainButtons run={run} edits={edits} isLoading={isLoading} onAgain={(files) => runAgain(id, files)} />
          )}
        </Modal.Footer>
      </Modal.Content>
    </Modal.Root>
  );
}

interface AgainProps {
  run: RunDetail;
  /** Unsaved texts of the app. */
  edits: Record<string, string>;
  isLoading: boolean;
  onAgain(files: Record<string, string>): void;
}

function AgainButtons({ run, edits, isLoading, onAgain }: AgainProps) {
  const text = useText();
  const isRequester = useMay()(['records']);
  const [path] = Object.keys(edits);
  return (
    <>
      {!isRequester && <Typography textColor="neutral600">{text('run.again.visitor')}</Typography>}
      {path !== undefined && (
        <Button variant="secondary" loading={isLoading} onClick={() => onAgain(edits)}>
          {text('run.again.edits.of', { path, app: run.app })}
        </Button>
      )}
      <Button loading={isLoading} onClick={() => onAgain({})}>
        {text('run.again')}
      </Button>
    </>
  );
}
