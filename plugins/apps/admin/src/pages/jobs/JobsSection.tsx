import {
  Badge,
  Box,
  Button,
  Field,
  Flex,
  Link,
  Modal,
  SingleSelect,
  SingleSelectOption,
  Tabs,
  Typography,
} from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import { useEffect, useRef, useState } from 'react';
import { NavLink, useSearchParams } from 'react-router-dom';
import { type JobDetail, type JobSummary, type JobView, jobKinds } from '../../../../shared/admin-api';
import {
  useAppsDeleteJobMutation,
  useAppsJobQuery,
  useAppsJobsQuery,
  useAppsRetryJobMutation,
} from '../../api/activity';
import { useAppsOverviewQuery } from '../../api/apps';
import { useAction, useErrorText, usePolling } from '../../api/base';
import { DataTable, DeleteButton } from '../../components/DataTable';
import { Labelled, Section } from '../../components/page';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { appPath } from '../app/tabs';
import { type JobList, jobLists, queryOf, RetryDead, type Shown, shownOf } from './DeadJobs';

/** Stands for no filter. */
const ALL = 'all';

const textOf = (site: string, app: string) => JSON.stringify([site, app]);

/** Chooses the app, and the kind, whose jobs are shown. */
function JobFilters({ shown, onChange }: { shown: Shown; onChange(changed: Partial<Shown>): void }) {
  const text = useText();
  const { data } = useAppsOverviewQuery();
  const { site, app, kind, list } = shown;
  const apps = (data?.sites ?? []).flatMap((one) => one.apps.map(({ id }) => ({ site: one.id, app: id })));
  const chosen = site !== null && app !== null ? { site, app } : null;
  // An app that is gone may have left jobs.
  const isKnown = !chosen || apps.some((one) => one.site === chosen.site && one.app === chosen.app);
  const choices = isKnown ? apps : [chosen, ...apps];
  const chooseApp = (value: string) => {
    const [toSite, toApp] = value === ALL ? [null, null] : (JSON.parse(value) as [string, string]);
    onChange({ site: toSite, app: toApp });
  };
  return (
    <Flex gap={4} wrap="wrap" alignItems="flex-end">
      <Field.Root name="app">
        <Field.Label>{text('app')}</Field.Label>
        <SingleSelect
          value={chosen ? textOf(chosen.site, chosen.app) : ALL}
          onChange={(value) => chooseApp(String(value))}
        >
          <SingleSelectOption value={ALL}>{text('job.app.all')}</SingleSelectOption>
          {choices.map((one) => (
            <SingleSelectOption key={textOf(one.site, one.app)} value={textOf(one.site, one.app)}>
              {`${one.site} / ${one.app}`}
            </SingleSelectOption>
          ))}
        </SingleSelect>
      </Field.Root>
      {list !== 'deliveries' && (
        <Field.Root name="kind">
          <Field.Label>{text('job.kind')}</Field.Label>
          <SingleSelect
            value={kind ?? ALL}
            onChange={(value) => onChange({ kind: jobKinds.find((one) => one === value) ?? null })}
          >
            <SingleSelectOption value={ALL}>{text('job.kind.all')}</SingleSelectOption>
            {jobKinds.map((one) => (
              <SingleSelectOption key={one} value={one}>
                {text(`job.kind.${one}`)}
              </SingleSelectOption>
            ))}
          </SingleSelect>
        </Field.Root>
      )}
    </Flex>
  );
}

/** Whether a job may run again now, and be deleted. */
const isIdle = ({ view }: JobSummary): boolean => view !== 'running';

/** What the button says that has a job run now, and its name for screen readers. */
const runLabels = ({ view, kind }: JobSummary) =>
  view === 'waiting'
    ? (['schedule.run', 'schedule.run.of'] as const)
    : kind === 'webhook' || kind === 'mail'
      ? (['job.send', 'job.send.of'] as const)
      : (['job.retry', 'job.retry.of'] as const);

/** What an administrator does with a job that does not run. */
function useJobActions({ id }: Pick<JobSummary, 'id'>) {
  const text = useText();
  const act = useAction();
  const [send, { isLoading }] = useAppsRetryJobMutation();
  const [deleteJob] = useAppsDeleteJobMutation();
  return {
    isLoading,
    retry: () => act(() => send(id).unwrap(), text('job.retried')),
    remove: () => act(() => deleteJob(id).unwrap(), text('job.deleted')),
  };
}

const colours: Record<JobView, { backgroundColor: string; textColor: string }> = {
  waiting: { backgroundColor: 'neutral150', textColor: 'neutral800' },
  running: { backgroundColor: 'primary100', textColor: 'primary700' },
  failed: { backgroundColor: 'warning100', textColor: 'warning700' },
  dead: { backgroundColor: 'danger100', textColor: 'danger700' },
  done: { backgroundColor: 'success100', textColor: 'success700' },
};

function JobBadge({ view }: { view: JobView }) {
  return <Badge {...colours[view]}>{useText()(`jobs.list.${view}`)}</Badge>;
}

/** Jobs of one list; each opens with what it was given. */
function JobsTable({ jobs, list, onOpen }: { jobs: JobSummary[]; list: JobList; onOpen(id: string): void }) {
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

/** One job: what it was given, and what has become of it. */
function JobModal({ id, onClose }: { id: string; onClose(): void }) {
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

/** The jobs with their filters, refreshed while the page is visible. What is shown is in the address. */
export function JobsSection() {
  const text = useText();
  const textOf = useErrorText();
  const [search, setSearch] = useSearchParams();
  const [before, setBefore] = useState<string>();
  const shown = shownOf(search);
  const { list } = shown;
  const pollingInterval = usePolling(before === undefined);
  const { data, error } = useAppsJobsQuery(queryOf(shown, before), {
    pollingInterval,
    refetchOnMountOrArgChange: true,
  });
  const tabs = useRef<HTMLDivElement>(null);
  // On a narrow screen the tabs are wider than the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is chosen
  useEffect(() => {
    tabs.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [list]);
  const change = (changed: Partial<Shown>) => {
    if (!('job' in changed)) setBefore(undefined);
    const next = Object.entries({ ...shown, ...changed }).filter(([, value]) => value !== null);
    setSearch(Object.fromEntries(next) as Record<string, string>, { replace: true });
  };
  const labelOf = (one: JobList) => {
    const count = one === 'done' || one === 'deliveries' ? 0 : (data?.counts[one] ?? 0);
    return count > 0 ? `${text(`jobs.list.${one}`)} (${count})` : text(`jobs.list.${one}`);
  };
  return (
    <Section title={text('jobs')}>
      <Flex direction="column" alignItems="stretch" gap={4}>
        <JobFilters shown={shown} onChange={change} />
        <Tabs.Root value={list} onValueChange={(chosen) => change({ list: chosen as JobList })}>
          <Box overflow="auto" ref={tabs}>
            <Tabs.List aria-label={text('jobs')}>
              {jobLists.map((one) => (
                <Tabs.Trigger key={one} value={one}>
                  <span style={{ whiteSpace: 'nowrap' }}>{labelOf(one)}</span>
                </Tabs.Trigger>
              ))}
            </Tabs.List>
          </Box>
          <Tabs.Content value={list}>
            <Flex direction="column" alignItems="stretch" gap={4} paddingTop={4}>
              {error !== undefined && (
                <Typography role="alert" textColor="danger600">
                  {textOf(error)}
                </Typography>
              )}
              {list === 'dead' && (data?.counts.dead ?? 0) > 0 && <RetryDead shown={shown} />}
              {data && <JobsTable jobs={data.jobs} list={list} onOpen={(job) => change({ job })} />}
              <Flex gap={2}>
                {before && (
                  <Button variant="tertiary" onClick={() => setBefore(undefined)}>
                    {text('job.latest')}
                  </Button>
                )}
                {data?.older && (
                  <Button variant="tertiary" onClick={() => setBefore(data.older ?? undefined)}>
                    {text('job.older')}
                  </Button>
                )}
              </Flex>
            </Flex>
          </Tabs.Content>
        </Tabs.Root>
      </Flex>
      {shown.job !== null && <JobModal id={shown.job} onClose={() => change({ job: null })} />}
    </Section>
  );
}
