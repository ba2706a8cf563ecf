import { Button, Dialog, Flex, Link, Typography } from '@strapi/design-system';
import { ConfirmDialog } from '@strapi/strapi/admin';
import { NavLink } from 'react-router-dom';
import { useAppsRetryDeadJobsMutation } from '../../api/activity';
import { useAction } from '../../api/base';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { jobsPath, type Shown } from './lists';

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
