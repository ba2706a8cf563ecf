import { Badge, Button, Flex, Typography } from '@strapi/design-system';
import type { JobSummary, JobView } from '../../../../shared/admin-api';
import { DataTable } from '../../components/DataTable';
import { DeleteButton } from '../../components/DeleteButton';
import { useText } from '../../plugin';
import { isIdle, runLabels, useJobActions } from './job-actions';
import type { JobList } from './lists';

const colours: Record<JobView, { backgroundColor: string; textColor: string }> = {
  waiting: { backgroundColor: 'neutral150', textColor: 'neutral800' },
  running: { backgroundColor: 'primary100', textColor: 'primary700' },
  failed: { backgroundColor: 'warning100', textColor: 'warning700' },
  dead: { backgroundColor: 'danger100', textColor: 'danger700' },
  done: { backgroundColor: 'success100', textColor: 'success700' },
};

export function JobBadge({ view }: { view: JobView }) {
  return <Badge {...colours[view]}>{useText()(`jobs.list.${view}`)}</Badge>;
}

/** Jobs of one list; each opens with what it was given. */
export function JobsTable({ jobs, list, onOpen }: { jobs: JobSummary[]; list: JobList; onOpen(id: string): void }) {
  const text = useText();
  const state = { title: text('state'), cell: ({ view }: JobSummary) => <JobBadge view={view} /> };
  return (
    <DataTable
      label={text('jobs')}
      empty={text('jobs.none')}
      rows={jobs}
      rowKey={({ id }) => id}
      columns={[
        {
          title: text('job'),
          cell: ({ id, name }) => (
            <Button variant="ghost" size="S" onClick={() => onOpen(id)}>
              {name}
            </Button>
          ),
        },
        { title: text('job.kind'), cell: ({ kind }) => text(`job.kind.${kind}`) },
        { title: text('app'), cell: ({ site, app }) => `${site} / ${app}` },
        ...(list === 'deliveries' ? [state] : []),
        { title: text('job.at'), cell: (job) => <When job={job} /> },
        { title: text('job.attempts'), cell: ({ attempts }) => attempts },
        { title: text('job.result'), cell: (job) => <Result job={job} /> },
        { title: text('actions'), cell: (job) => isIdle(job) && <Actions job={job} /> },
      ]}
    />
  );
}

/** When a job is due, or has begun or ended. */
function When({ job: { view, dueAt, startedAt, endedAt } }: { job: JobSummary }) {
  const text = useText();
  const isDue = view === 'waiting' || view === 'failed';
  const at = new Date(isDue ? dueAt : (endedAt ?? startedAt ?? dueAt)).toLocaleString();
  return text(isDue ? 'job.due' : view === 'running' ? 'job.began' : 'job.ended', { at });
}

/** Status, duration and the reason of the last try. */
function Result({ job: { status, time, error } }: { job: JobSummary }) {
  const text = useText();
  const parts = [status !== null && text('job.status', { status }), time !== null && text('job.time', { time })];
  return (
    <>
      {parts.filter(Boolean).join(' · ')}
      {error !== null && (
        <Typography
          tag="p"
          variant="pi"
          textColor="danger600"
          // On a narrow screen the table scrolls: a column of single letters would make its rows as high as the screen.
          style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere', minWidth: '15rem' }}
        >
          {error}
        </Typography>
      )}
    </>
  );
}

function Actions({ job }: { job: JobSummary }) {
  const text = useText();
  const { retry, remove, isLoading } = useJobActions(job);
  const { name } = job;
  const [label, labelOf] = runLabels(job);
  return (
    <Flex gap={1}>
      <Button
        size="S"
        variant="tertiary"
        loading={isLoading}
        style={{ whiteSpace: 'nowrap' }}
        aria-label={text(labelOf, { name })}
        onClick={retry}
      >
        {text(label)}
      </Button>
      <DeleteButton
        label={text('job.delete', { name })}
        question={text('job.delete.confirm', { name })}
        onDelete={remove}
      />
    </Flex>
  );
}
