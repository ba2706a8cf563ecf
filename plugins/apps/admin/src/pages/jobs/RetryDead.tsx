import { Button, Dialog, Flex, Typography } from '@strapi/design-system';
import { ConfirmDialog } from '@strapi/strapi/admin';
import { useAction } from '../../api/base';
import { useAppsRetryDeadJobsMutation } from '../../api/jobs';
import { useText } from '../../plugin';
import type { Shown } from './lists';

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
