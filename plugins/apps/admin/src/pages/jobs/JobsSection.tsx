import { Box, Button, Flex, Tabs, Typography } from '@strapi/design-system';
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { useErrorText, usePolling } from '../../api/base';
import { useAppsJobsQuery } from '../../api/jobs';
import { Section } from '../../components/Section';
import { useText } from '../../plugin';
import { RetryDead } from './DeadJobs';
import { JobFilters } from './JobFilters';
import { JobModal } from './JobModal';
import { JobsTable } from './JobsTable';
import { type JobList, jobLists, queryOf, type Shown, shownOf } from './lists';

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
