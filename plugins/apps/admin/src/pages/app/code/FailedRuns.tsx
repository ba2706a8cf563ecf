import { Button, Typography } from '@strapi/design-system';
import type { AppDetail, CodeProblem, RunDetail } from '../../../../../shared/admin-api';
import { useAppsRunsQuery } from '../../../api/runs';
import { DataTable } from '../../../components/DataTable';
import { ProblemNote } from '../../../components/ProblemNote';
import { useText } from '../../../plugin';
import { Again } from '../runs/RunDetails';
import { useRunAgain } from '../runs/use-run-again';

/** Runs that are listed, and milliseconds between two requests. */
const MAX_RUNS = 5;
const POLL_INTERVAL = 5_000;

interface Props {
  app: AppDetail;
  block: string;
  /** Texts that are not saved, by path. */
  files: Record<string, string>;
  /** Gets what fails in the app's files when a run is run again. */
  onFailures(problems: CodeProblem[]): void;
}

/** The latest failed runs of a block; each can run again with what the editor holds, without writing. */
export function FailedRuns({ app, block, files, onFailures }: Props) {
  const text = useText();
  const query = { site: app.site, app: app.id, block, state: 'failed' as const, limit: MAX_RUNS };
  const { data } = useAppsRunsQuery(query, { pollingInterval: POLL_INTERVAL, refetchOnMountOrArgChange: true });
  const { runAgain, repeated, isLoading } = useRunAgain();
  const isEdited = Object.keys(files).length > 0;
  const again = async (id: string) => {
    const done = await runAgain(id, files);
    if (done) onFailures(failuresOf(app, done.runs));
  };
  return (
    <>
      <DataTable
        label={text('code.runs', { block })}
        empty={text('code.runs.none')}
        rows={data?.runs ?? []}
        rowKey={({ id }) => id}
        columns={[
          { title: text('run.at'), cell: ({ at }) => new Date(at).toLocaleString() },
          { title: text('run.requester'), cell: ({ requester }) => requester.name ?? text('creator.anonymous') },
          {
            title: text('run.address'),
            cell: ({ method, address }) => <code style={{ overflowWrap: 'anywhere' }}>{`${method} ${address}`}</code>,
          },
          { title: text('run.error'), cell: ({ error }) => error && <ProblemNote problem={error} /> },
          {
            title: text('actions'),
            cell: ({ id, hasInput }) =>
              hasInput ? (
                <Button
                  variant="secondary"
                  size="S"
                  disabled={isLoading}
                  onClick={() => again(id)}
                  style={{ whiteSpace: 'nowrap' }}
                >
                  {text(isEdited ? 'run.again.edits' : 'run.again')}
                </Button>
              ) : (
                <Typography textColor="neutral600">{text('code.runs.debug')}</Typography>
              ),
          },
        ]}
      />
      {repeated && <Again {...repeated} />}
    </>
  );
}

/** The errors of runs in the files of the app, as the editor shows problems. */
function failuresOf({ id }: AppDetail, runs: RunDetail[]): CodeProblem[] {
  return runs.flatMap(({ error }) =>
    error && error.app === id && error.file !== '' ? [{ ...error, severity: 'error' as const, cure: null }] : [],
  );
}
