import { Button, Flex, Link, Typography } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { NavLink } from 'react-router-dom';
import type { ScheduleSummary } from '../../../../shared/admin-api';
import { useAppsRunScheduleMutation, useAppsSchedulesQuery } from '../../api/activity';
import { useAction, useErrorText, usePolling } from '../../api/base';
import { DataTable } from '../../components/DataTable';
import { Section } from '../../components/page';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { jobsPath } from './DeadJobs';
import { JobsSection } from './JobsSection';

/** The functions that the clock calls: their last and next ticks; each can run now. */
export function SchedulesSection() {
  const text = useText();
  const textOf = useErrorText();
  const { data, error } = useAppsSchedulesQuery(undefined, {
    pollingInterval: usePolling(),
    refetchOnMountOrArgChange: true,
  });
  return (
    <Section title={text('schedules')}>
      {error !== undefined && (
        <Typography role="alert" textColor="danger600">
          {textOf(error)}
        </Typography>
      )}
      {data && (
        <DataTable
          label={text('schedules')}
          empty={text('schedules.none')}
          rows={data}
          rowKey={(one) => JSON.stringify([one.site, one.app, one.block, one.function, one.cron, one.timeZone])}
          columns={[
            { title: text('function'), cell: nameOf },
            { title: text('app'), cell: ({ site, app }) => `${site} / ${app}` },
            { title: text('schedule.when'), cell: (one) => <Words schedule={one} /> },
            { title: text('schedule.last'), cell: (one) => <Last schedule={one} /> },
            {
              title: text('schedule.next'),
              cell: ({ next }) => (next === null ? text('schedule.never') : new Date(next).toLocaleString()),
            },
            { title: text('actions'), cell: (one) => <RunNow schedule={one} /> },
          ]}
        />
      )}
    </Section>
  );
}

const nameOf = (one: ScheduleSummary) => `${one.block}/${one.function}`;

function Words({ schedule: { words, cron } }: { schedule: ScheduleSummary }) {
  return (
    <>
      <span lang="en">{words}</span>
      <Typography tag="p" variant="pi" textColor="neutral600">
        <code>{cron}</code>
      </Typography>
    </>
  );
}

/** The last tick, and what has become of its job. */
function Last({ schedule: { last, ...schedule } }: { schedule: ScheduleSummary }) {
  const text = useText();
  if (!last) return text('schedule.never');
  const at = new Date(last.tick).toLocaleString();
  if (last.state === null) return at;
  const list = last.state;
  return (
    <Link tag={NavLink} to={jobsPath({ list, site: schedule.site, app: schedule.app, job: last.job })}>
      {`${at}: ${text(`jobs.list.${list}`)}`}
    </Link>
  );
}

function RunNow({ schedule }: { schedule: ScheduleSummary }) {
  const text = useText();
  const act = useAction();
  const [runNow, { isLoading }] = useAppsRunScheduleMutation();
  const { site, app, block } = schedule;
  const run = () => runNow({ site, app, block, function: schedule.function }).unwrap();
  return (
    <Button
      size="S"
      variant="tertiary"
      loading={isLoading}
      aria-label={text('schedule.run.of', { name: nameOf(schedule) })}
      onClick={() => void act(run, text('schedule.ran'))}
    >
      {text('schedule.run')}
    </Button>
  );
}

/** What apps have still to do, are doing or have done; and the schedules that make jobs. */
export default function JobsPage() {
  const text = useText();
  return useMay()(['jobs']) ? (
    <Page.Main>
      <Page.Title>{text('jobs')}</Page.Title>
      <Layouts.Header
        title={text('jobs')}
        subtitle={text('jobs.subtitle')}
        navigationAction={
          <Link tag={NavLink} to={`/plugins/${pluginId}`} startIcon={<ArrowLeft />}>
            {text('back')}
          </Link>
        }
      />
      <Layouts.Content>
        <Flex direction="column" alignItems="stretch" gap={6}>
          <JobsSection />
          <SchedulesSection />
        </Flex>
      </Layouts.Content>
    </Page.Main>
  ) : (
    <Page.NoPermissions />
  );
}
