import { Flex, Typography } from '@strapi/design-system';
import type { RunAgain, RunDetail } from '../../../../../shared/admin-api';
import { Labelled } from '../../../components/Pre';
import { ProblemNote } from '../../../components/ProblemNote';
import { useText } from '../../../plugin';
import { StateBadge } from './StateBadge';

/** A run: its state, its error, its log and its input. */
export function RunDetails({ run }: { run: RunDetail }) {
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
