import { Box, Button, Flex, Modal, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import type { RunAgain, RunDetail } from '../../../../../shared/admin-api';
import { useAction, useErrorText } from '../../../api/base';
import { useAppsRunAgainMutation, useAppsRunQuery } from '../../../api/runs';
import { Pre } from '../../../components/Pre';
import { ProblemNote } from '../../../components/ProblemNote';
import { useText } from '../../../plugin';
import { StateBadge } from './StateBadge';

/** One run: its log, its error and its input; where it failed in debug mode, it can run again without writing. */
export function RunModal({ id, onClose }: { id: string; onClose(): void }) {
  const text = useText();
  const act = useAction();
  const textOf = useErrorText();
  const { data: run, error } = useAppsRunQuery(id);
  const [runAgain, { data: again, isLoading }] = useAppsRunAgainMutation();
  return (
    <Modal.Root open onOpenChange={(open) => !open && onClose()}>
      <Modal.Content>
        <Modal.Header>
          <Modal.Title>{run ? `${run.method} ${run.address}` : text('run')}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {error ? textOf(error) : !run && <Page.Loading />}
          {run && <Details run={run} />}
          {again && <Again again={again} />}
        </Modal.Body>
        <Modal.Footer>
          <Modal.Close>
            <Button variant="tertiary">{text('close')}</Button>
          </Modal.Close>
          {run?.hasInput && (
            <Button loading={isLoading} onClick={() => act(() => runAgain(id).unwrap())}>
              {text('run.again')}
            </Button>
          )}
        </Modal.Footer>
      </Modal.Content>
    </Modal.Root>
  );
}

function Details({ run }: { run: RunDetail }) {
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
      {run.error && <ProblemNote problem={run.error} />}
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

function Again({ again }: { again: RunAgain }) {
  const text = useText();
  const { records, mails, content } = again.writes;
  const isEmpty = records.length + mails.length + content.length === 0;
  return (
    <Flex direction="column" alignItems="stretch" gap={3} paddingTop={4}>
      <Typography variant="delta" tag="h3">
        {text('run.again.done')}
      </Typography>
      {again.runs.map((run, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list of one answer never changes
        <Details key={at} run={run} />
      ))}
      <Typography textColor="neutral600">{text(isEmpty ? 'run.again.nothing' : 'run.again.writes')}</Typography>
      {!isEmpty && <Labelled label={text('run.again.writes')}>{JSON.stringify(again.writes, null, 2)}</Labelled>}
      <Labelled label={text('run.answer', { status: again.status })}>{again.answer.slice(0, 5_000)}</Labelled>
    </Flex>
  );
}

function Labelled({ label, children }: { label: string; children: string }) {
  return (
    <Box>
      <Typography variant="sigma">{label}</Typography>
      <Pre>{children}</Pre>
    </Box>
  );
}
