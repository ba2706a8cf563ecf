import { Button, Dialog, Flex, Link, Typography } from '@strapi/design-system';
import { ConfirmDialog } from '@strapi/strapi/admin';
import { NavLink } from 'react-router-dom';
import { type JobKind, type JobsQuery, jobKinds, jobViews } from '../../../../shared/admin-api';
import { useAppsRetryDeadJobsMutation } from '../../api/activity';
import { useAction } from '../../api/base';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';

/** The lists of the page, in the order of their tabs: jobs by their state, and webhooks in all states. */
export const jobLists = [...jobViews, 'deliveries'] as const;

export type JobList = (typeof jobLists)[number];

/** What is shown, as the address has it. */
export interface Shown {
  list: JobList;
  kind: JobKind | null;
  site: string | null;
  app: string | null;
  /** Id of the job that is opened. */
  job: string | null;
}

/** The address of the page. */
export function jobsPath(shown: Partial<Shown>): string {
  const given = Object.entries(shown).filter(([, value]) => value !== null);
  return `/plugins/${pluginId}/jobs?${new URLSearchParams(given as [string, string][])}`;
}

export function shownOf(search: URLSearchParams): Shown {
  return {
    list: jobLists.find((one) => one === search.get('list')) ?? 'waiting',
    kind: jobKinds.find((one) => one === search.get('kind')) ?? null,
    site: search.get('site'),
    app: search.get('app'),
    job: search.get('job'),
  };
}

/** What the server is asked for. */
export function queryOf({ list, kind, site, app }: Shown, before: string | undefined): JobsQuery {
  const wanted = list === 'deliveries' ? ({ kind: 'webhook' } as const) : { view: list, ...(kind && { kind }) };
  return { ...wanted, ...(site && { site }), ...(app && { app }), ...(before && { before }) };
}

/** The number of an app's dead jobs, which leads to them. */
export function DeadJobs({ site, app, count }: { site: string; app: string; count: number }) {
  const text = useText();
  const label = text('jobs.dead', { count });
  return useMay()(['jobs']) ? (
    <Link tag={NavLink} to={jobsPath({ list: 'dead', site, app })}>
      {label}
    </Link>
  ) : (
    <Typography textColor="warning700">{label}</Typography>
  );
}

/** Runs all dead jobs of the chosen kind, and of the chosen app, again. */
export function RetryDead({ shown: { kind, site, app } }: { shown: Shown }) {
  const text = useText();
  const act = useAction();
  const [retry, { isLoading }] = useAppsRetryDeadJobsMutation();
  if (kind === null) return <Typography textColor="neutral600">{text('jobs.retry.hint')}</Typography>;
  const given = { kind, ...(site && { site }), ...(app && { app }) };
  const name = [text(`job.kind.${kind}`), [site, app].filter(Boolean).join(' / ')].filter(Boolean).join(', ');
  return (
    <Flex>
      <Dialog.Root>
        <Dialog.Trigger>
          <Button variant="secondary" loading={isLoading}>
            {text('jobs.retry')}
          </Button>
        </Dialog.Trigger>
        <ConfirmDialog onConfirm={() => void act(() => retry(given).unwrap(), text('jobs.retried'))}>
          {text('jobs.retry.confirm', { name })}
        </ConfirmDialog>
      </Dialog.Root>
    </Flex>
  );
}
