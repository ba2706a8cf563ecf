import { Button, Field, Flex, Link, SingleSelect, SingleSelectOption, Switch, Typography } from '@strapi/design-system';
import { useState } from 'react';
import { NavLink, useSearchParams } from 'react-router-dom';
import { type AppDetail, type RunSummary, runStates } from '../../../../shared/admin-api';
import { useAppsRunsQuery } from '../../api/activity';
import { useErrorText } from '../../api/base';
import { DataTable, OlderEntries } from '../../components/DataTable';
import { ProblemNote } from '../../components/page';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { jobsPath } from '../jobs/DeadJobs';
import { RunModal, StateBadge } from './RunModal';

/** Runs of logic; each opens with its log, its input, and a button that runs it again. */
export function RunsTable({ runs, empty }: { runs: RunSummary[]; empty: string }) {
  const text = useText();
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <>
      <DataTable
        label={text('runs')}
        empty={empty}
        rows={runs}
        rowKey={({ id }) => id}
        columns={[
          {
            title: text('run.at'),
            cell: ({ id, at }) => (
              <Button variant="ghost" size="S" onClick={() => setOpened(id)}>
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
          { title: text('run.address'), cell: (run) => <Cause run={run} /> },
          {
            title: text('run.cost'),
            cell: ({ time, memory, hostCalls }) =>
              text('run.cost.text', { time, memory: Math.round(memory / 1024), hostCalls }),
          },
          { title: text('run.error'), cell: ({ error }) => error && <ProblemNote problem={error} /> },
        ]}
      />
      {opened !== null && <RunModal id={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

/** What has caused a run: a request, a job, an event of a rule. */
function Cause({ run: { site, app, rule, job, method, address } }: { run: RunSummary }) {
  const text = useText();
  const may = useMay();
  if (!rule && !job) return <code>{`${method} ${address}`}</code>;
  const label = job && text('run.job', { kind: text(`job.kind.${job.kind}`), attempt: job.attempt });
  return (
    <>
      {rule && (
        <>
          <Link tag={NavLink} to={`/plugins/${pluginId}/rules/${rule.id}`}>
            {text('rule')}
          </Link>{' '}
          {text(`event.${rule.event}`)} <code>{rule.documentId}</code>{' '}
        </>
      )}
      {job && may(['jobs']) && (
        <Link tag={NavLink} to={jobsPath({ site, app, job: job.id })}>
          {label}
        </Link>
      )}
      {job && !may(['jobs']) && label}
    </>
  );
}

/** Milliseconds between two requests of the live list. */
const POLL_INTERVAL = 2_000;

/** The latest runs of an app's logic, refreshed while the switch is on. The state is in the address. */
export default function RunsTab({ app }: { app: AppDetail }) {
  const text = useText();
  const textOf = useErrorText();
  const [search, setSearch] = useSearchParams();
  const state = runStates.find((one) => one === search.get('state')) ?? 'all';
  const job = search.get('job');
  const [requester, setRequester] = useState('');
  const [isLive, setLive] = useState(true);
  const [before, setBefore] = useState<string>();
  const query = {
    site: app.site,
    app: app.id,
    ...(state !== 'all' && { state }),
    ...(job && { job }),
    ...(requester && { requester }),
    ...(before && { before }),
  };
  const { data, error } = useAppsRunsQuery(query, {
    pollingInterval: isLive && !before ? POLL_INTERVAL : 0,
    refetchOnMountOrArgChange: true,
  });
  const failure = textOf(error);
  const choose = (chosen: string | number) => {
    setBefore(undefined);
    setSearch({ ...(chosen !== 'all' && { state: String(chosen) }), ...(job && { job }) }, { replace: true });
  };
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <Flex gap={4} wrap="wrap" alignItems="flex-start">
        <Field.Root name="state">
          <Field.Label>{text('state')}</Field.Label>
          <SingleSelect value={state} onChange={choose}>
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
      {job && (
        <Flex gap={2} wrap="wrap">
          <Typography>{text('runs.ofJob')}</Typography>
          <Link tag={NavLink} to="?">
            {text('runs.all')}
          </Link>
        </Flex>
      )}
      {failure && (
        <Typography role="alert" textColor="danger600">
          {failure}
        </Typography>
      )}
      <RunsTable runs={data?.runs ?? []} empty={text('runs.none')} />
      <OlderEntries before={before} older={data?.older} onChoose={setBefore}>
        <Typography textColor="neutral600" variant="pi">
          {text(data?.stored ? 'run.stored' : 'run.memory')}
        </Typography>
      </OlderEntries>
    </Flex>
  );
}
