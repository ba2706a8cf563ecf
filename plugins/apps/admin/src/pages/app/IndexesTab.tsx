import { Box, Button, Dialog, Flex, ProgressBar, Status, Typography } from '@strapi/design-system';
import { ConfirmDialog } from '@strapi/strapi/admin';
import type { AppDetail, IndexSummary, Refresh } from '../../../../shared/admin-api';
import { useAppsAppQuery, useAppsRefreshMutation, useLazyAppsIndexSizesQuery } from '../../api/apps';
import { useAction } from '../../api/base';
import { DataTable } from '../../components/DataTable';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';

/** Milliseconds between two requests for the progress of a re-index. */
const pollInterval = 1000;

function Progress({ refresh }: { refresh: Refresh }) {
  const text = useText();
  const { state, done, total, message } = refresh;
  if (state === 'failed') {
    return <Typography textColor="danger600">{message ?? text('refresh.failed')}</Typography>;
  }
  if (state === 'done') return <Typography textColor="success600">{text('refresh.done')}</Typography>;
  const known = done !== null && total !== null && total > 0;
  return (
    <Flex gap={3}>
      <ProgressBar aria-label={text('refresh.running')} value={known ? Math.round((100 * done) / total) : 0} />
      <Typography>{known ? text('refresh.progress', { done, total }) : text('refresh.running')}</Typography>
    </Flex>
  );
}

const variants = { ready: 'success', building: 'secondary', missing: 'neutral' } as const;

function State({ state }: { state: IndexSummary['state'] }) {
  const text = useText();
  return (
    <Status variant={variants[state]} size="S" width="max-content">
      <Typography>{text(`index.state.${state}`)}</Typography>
    </Status>
  );
}

/** The entries of an index; undefined: it is not built. */
function Size({ size }: { size: number | null | undefined }) {
  const text = useText();
  if (size === undefined) return '–';
  return size === null ? text('index.size.unknown') : size.toLocaleString();
}

/** An app's declared indexes, with buttons to re-index its records and the progress of that; dropping asks for confirmation. */
export default function IndexesTab({ app }: { app: AppDetail }) {
  const text = useText();
  const may = useMay();
  const act = useAction();
  const [refresh] = useAppsRefreshMutation();
  const [count, { data: sizes, isFetching }] = useLazyAppsIndexSizesQuery();
  const key = { site: app.site, app: app.id };
  const running = app.refresh?.state === 'running';
  useAppsAppQuery(key, { pollingInterval: running ? pollInterval : 0 });
  const start = async (rebuild: boolean) => {
    await act(() => refresh({ ...key, rebuild }).unwrap());
  };
  return (
    <>
      <Flex gap={2} paddingBottom={4} wrap="wrap">
        <Button onClick={() => start(false)} disabled={running || !may('manage')}>
          {text('refresh')}
        </Button>
        <Dialog.Root>
          <Dialog.Trigger>
            <Button variant="secondary" disabled={running || !may('manage')}>
              {text('refresh.rebuild')}
            </Button>
          </Dialog.Trigger>
          <ConfirmDialog onConfirm={() => start(true)}>
            {text('refresh.rebuild.confirm', { app: app.id, records: app.records })}
          </ConfirmDialog>
        </Dialog.Root>
        <Button variant="tertiary" loading={isFetching} onClick={() => act(() => count(key).unwrap())}>
          {text('index.count')}
        </Button>
        <Box role="status" paddingLeft={4}>
          {app.refresh && <Progress refresh={app.refresh} />}
        </Box>
      </Flex>
      <DataTable
        label={text('indexes')}
        empty=""
        rows={app.indexes}
        rowKey={(index) => index.name}
        columns={[
          { title: text('index'), cell: (index) => index.name },
          { title: text('type'), cell: (index) => index.type },
          { title: text('index.state'), cell: (index) => <State state={index.state} /> },
          ...(sizes
            ? [{ title: text('index.size'), cell: (index: IndexSummary) => <Size size={sizes[index.name]} /> }]
            : []),
        ]}
      />
    </>
  );
}
