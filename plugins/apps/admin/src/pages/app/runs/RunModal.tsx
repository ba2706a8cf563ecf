import { Button, Modal, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import type { RunDetail } from '../../../../../shared/admin-api';
import { useErrorText } from '../../../api/base';
import { useAppsRunQuery } from '../../../api/runs';
import { useMay } from '../../../permissions';
import { useText } from '../../../plugin';
import { draftOf, editsOf } from '../code/drafts';
import { Again, RunDetails } from './RunDetails';
import { useRunAgain } from './use-run-again';

/** One run: its log, its error and its input; where it failed in debug mode, it can run again without writing. */
export function RunModal({ id, onClose }: { id: string; onClose(): void }) {
  const text = useText();
  const textOf = useErrorText();
  const { data: run, error } = useAppsRunQuery(id);
  const { runAgain, repeated, isLoading } = useRunAgain();
  const edits = run ? editsOf(draftOf({ site: run.site, id: run.app })) : {};
  return (
    <Modal.Root open onOpenChange={(open) => !open && onClose()}>
      <Modal.Content>
        <Modal.Header>
          <Modal.Title>{run ? `${run.method} ${run.address}` : text('run')}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {error ? textOf(error) : !run && <Page.Loading />}
          {run && <RunDetails run={run} />}
          {repeated && <Again {...repeated} />}
        </Modal.Body>
        <Modal.Footer>
          <Modal.Close>
            <Button variant="tertiary">{text('close')}</Button>
          </Modal.Close>
          {run?.hasInput && (
            <AgainButtons run={run} edits={edits} isLoading={isLoading} onAgain={(files) => runAgain(id, files)} />
          )}
        </Modal.Footer>
      </Modal.Content>
    </Modal.Root>
  );
}

interface AgainProps {
  run: RunDetail;
  /** Unsaved texts of the app. */
  edits: Record<string, string>;
  isLoading: boolean;
  onAgain(files: Record<string, string>): void;
}

function AgainButtons({ run, edits, isLoading, onAgain }: AgainProps) {
  const text = useText();
  const isRequester = useMay()(['records']);
  const [path] = Object.keys(edits);
  return (
    <>
      {!isRequester && <Typography textColor="neutral600">{text('run.again.visitor')}</Typography>}
      {path !== undefined && (
        <Button variant="secondary" loading={isLoading} onClick={() => onAgain(edits)}>
          {text('run.again.edits.of', { path, app: run.app })}
        </Button>
      )}
      <Button loading={isLoading} onClick={() => onAgain({})}>
        {text('run.again')}
      </Button>
    </>
  );
}
