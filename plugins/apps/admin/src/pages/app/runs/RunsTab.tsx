import {
  Badge,
  Button,
  Field,
  Flex,
  SingleSelect,
  SingleSelectOption,
  Switch,
  Typography,
} from '@strapi/design-system';
import { useState } from 'react';
import { type AppDetail, type RunState, type RunSummary, runStates } from '../../../../../shared/admin-api';
import { useErrorText } from '../../../api/base';
import { useAppsRunsQuery } from '../../../api/runs';
import { DataTable } from '../../../components/DataTable';
import { ProblemNote } from '../../../components/ProblemNote';
import { useText } from '../../../plugin';
import { RunModal } from './RunModal';

/** Milliseconds between two questions of the live list. */
const LIVE = 2_000;

const colours: Record<RunState, { backgroundColor: string; textColor: string }> = {
  done: { backgroundColor: 'success100', textColor: 'success700' },
  failed: { backgroundColor: 'danger100', textColor: 'danger700' },
  refused: { backgroundColor: 'neutral150', textColor: 'neutral800' },
};

/** What the logic of an app has done lately; live while the switch is on. */
export default function RunsTab({ app }: { app: AppDetail }) {
  const text = useText();
  const textOf = useErrorText();
  const [state, setState] = useState<RunState | 'all'>('all');
  const [requester, setRequester] = useState('');
  const [isLive, setLive] = useState(true);
  const [before, setBefore] = useState<string>();
  const [opened, setOpened] = useState<string | null>(null);
  const query = {
    ...{ site: app.site, app: app.id },
    ...(state !== 'all' && { state }),
    ...(requester && { requester }),
    ...(before && { before }),
  };
  const { data, error } = useAppsRunsQuery(query, {
    pollingInterval: isLive && !before ? LIVE : 0,
    refetchOnMountOrArgChange: true,
  });
  const failure = textOf(error);
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <Flex gap={4} wrap="wrap" alignItems="flex-start">
        <Field.Root name="state">
          <Field.Label>{text('state')}</Field.Label>
          <SingleSelect value={state} onChange={(chosen) => setState(chosen as RunState | 'all')}>
            {(['all', ...runStates] as const).map((one) => (
              <SingleSelectOption key={one} value={one}>
                {text(`run.state.${one}`)}
              </SingleSelectOption>
            ))}
          </SingleSelect>
        </Field.Root>
        <Field.Root name="requester" hint={text('run.requester.hint')}>
          <Field.Label>{text('run.requester')}</Field.Label>
          <Field.Input value={requester} onChange={({ target }) => setRequester(target.value)} maxLength={200} />
          <Field.Hint />
        </Field.Root>
        <Flex direction="column" alignItems="flex-start" gap={1}>
          <Typography variant="pi" fontWeight="bold" aria-hidden>
            {text('run.live')}
          </Typography>
          <Switch aria-label={text('run.live')} checked={isLive} onCheckedChange={setLive} />
        </Flex>
      </Flex>
      {failure && (
        <Typography role="alert" textColor="danger600">
          {failure}
        </Typography>
      )}
      <RunsTable runs={data?.runs ?? []} onOpen={setOpened} />
      <Flex gap={2}>
        {before && (
          <Button variant="tertiary" onClick={() => setBefore(undefined)}>
            {text('run.latest')}
          </Button>
        )}
        {data?.older && (
          <Button variant="tertiary" onClick={() => setBefore(data.older ?? undefined)}>
            {text('run.older')}
          </Button>
        )}
        <Typography textColor="neutral600" variant="pi">
          {text(data?.stored ? 'run.stored' : 'run.memory')}
        </Typography>
      </Flex>
      {opened !== null && <RunModal id={opened} onClose={() => setOpened(null)} />}
    </Flex>
  );
}

function RunsTable({ runs, onOpen }: { runs: RunSummary[]; onOpen(id: string): void }) {
  const text = useText();
  return (
    <DataTable
      label={text('runs')}
      empty={text('runs.none')}
      rows={runs}
      rowKey={({ id }) => id}
      columns={[
        {
          title: text('run.at'),
          cell: ({ id, at }) => (
            <Button variant="ghost" size="S" onClick={() => onOpen(id)}>
              {new Date(at).toLocaleString()}
            </Button>
          ),
        },
        { title: text('state'), cell: ({ state }) => <StateBadge state={state} /> },
        {
          title: text('block'),
          cell: ({ calls }) => calls.map(({ block, functions }) => `${block}: ${functions.join(', ')}`).join('; '),
        },
        { title: text('run.requester'), cell: ({ requester }) => requester.name ?? text('creator.anonymous') },
        { title: text('run.address'), cell: ({ method, address }) => <code>{`${method} ${address}`}</code> },
        {
          title: text('run.cost'),
          cell: ({ time, memory, hostCalls }) =>
            text('run.cost.text', { time, memory: Math.round(memory / 1024), hostCalls }),
        },
        { title: text('run.error'), cell: ({ error }) => error && <ProblemNote problem={error} /> },
      ]}
    />
  );
}

/** How a run has ended. */
export function StateBadge({ state }: { state: RunState }) {
  const text = useText();
  return <Badge {...colours[state]}>{text(`run.state.${state}`)}</Badge>;
}
