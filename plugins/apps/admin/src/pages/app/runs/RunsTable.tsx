import { Button, Link } from '@strapi/design-system';
import { useState } from 'react';
import { NavLink } from 'react-router-dom';
import type { RunSummary } from '../../../../../shared/admin-api';
import { DataTable } from '../../../components/DataTable';
import { ProblemNote } from '../../../components/ProblemNote';
import { useMay } from '../../../permissions';
import { pluginId, useText } from '../../../plugin';
import { jobsPath } from '../../jobs/lists';
import { RunModal } from './RunModal';
import { StateBadge } from './StateBadge';

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
