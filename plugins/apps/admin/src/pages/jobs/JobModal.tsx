import { Button, Flex, Link, Modal, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import { NavLink } from 'react-router-dom';
import type { JobDetail } from '../../../../shared/admin-api';
import { useErrorText, usePolling } from '../../api/base';
import { useAppsJobQuery } from '../../api/jobs';
import { Labelled } from '../../components/Pre';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { appPath } from '../app/tabs';
import { JobBadge } from './JobsTable';
import { isIdle, runLabels, useJobActions } from './job-actions';

/** One job: what it was given, and what has become of it. */
export function JobModal({ id, onClose }: { id: string; onClose(): void }) {
  const text = useText();
  const textOf = useErrorText();
  const { data: job, error } = useAppsJobQuery(id, { pollingInterval: usePolling(), refetchOnMountOrArgChange: true });
  return (
    <Modal.Root open onOpenChange={(open) => !open && onClose()}>
      <Modal.Content>
        <Modal.Header>
          <Modal.Title>{job ? `${text(`job.kind.${job.kind}`)} ${job.name}` : text('job')}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {error ? <Typography role="alert">{textOf(error)}</Typography> : !job && <Page.Loading />}
          {job && <JobDetails job={job} />}
        </Modal.Body>
        <Modal.Footer>
          <Modal.Close>
            <Button variant="tertiary">{text('close')}</Button>
          </Modal.Close>
          {job && isIdle(job) && <Retry job={job} />}
        </Modal.Footer>
      </Modal.Content>
    </Modal.Root>
  );
}

function Retry({ job }: { job: JobDetail }) {
  const text = useText();
  const { retry, isLoading } = useJobActions(job);
  return (
    <Button loading={isLoading} onClick={retry}>
      {text(runLabels(job)[0])}
    </Button>
  );
}

function JobDetails({ job }: { job: JobDetail }) {
  const text = useText();
  const may = useMay();
  const when = (time: string | null) => time && new Date(time).toLocaleString();
  const facts = [
    [text('app'), `${job.site} / ${job.app}`],
    [text('run.requester'), job.requester === '' ? text('creator.anonymous') : job.requester],
    [text('job.key'), job.key],
    [text('job.stored'), when(job.storedAt)],
    [text('job.due.title'), when(job.dueAt)],
    [text('job.began.title'), when(job.startedAt)],
    [text('job.ended.title'), when(job.endedAt)],
    [text('job.attempts'), String(job.attempts)],
    [text('job.time.title'), job.time === null ? null : text('job.time', { time: job.time })],
    [text('job.status.title'), job.status === null ? null : String(job.status)],
  ] as const;
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Flex gap={3}>
        <JobBadge view={job.view} />
        {may(['develop']) && (
          <Link tag={NavLink} to={`${appPath(job.site, job.app, 'runs')}?${new URLSearchParams({ job: job.id })}`}>
            {text('job.runs')}
          </Link>
        )}
      </Flex>
      <dl>
        {facts.map(
          ([title, value]) =>
            value !== null && (
              <Flex key={title} gap={2} wrap="wrap">
                <Typography tag="dt" fontWeight="bold">
                  {title}
                </Typography>
                <Typography tag="dd" style={{ overflowWrap: 'anywhere' }}>
                  {value}
                </Typography>
              </Flex>
            ),
        )}
      </dl>
      {job.error !== null && <Labelled label={text('job.reason')}>{job.error}</Labelled>}
      {job.answer !== null && <Labelled label={text('job.answer')}>{job.answer}</Labelled>}
      <Labelled label={text('job.data')}>{JSON.stringify(job.data, null, 2)}</Labelled>
    </Flex>
  );
}
