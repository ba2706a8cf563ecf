import { Box, Typography } from '@strapi/design-system';
import type { BlockFailure, Problem } from '../../../shared/admin-api';
import { useText } from '../plugin';

/** An error with its file and line, and further details. */
export function ProblemNote({ problem, more }: { problem: Problem; more?: string }) {
  const text = useText();
  const { file, line, message } = problem;
  const place = line === null ? file : text('problem.place', { file, line });
  return (
    <Box role="note" paddingTop={1} paddingBottom={1}>
      <Typography textColor="danger600" tag="p">
        {message}
      </Typography>
      <Typography variant="pi" textColor="neutral600" tag="p">
        {[place, more].filter(Boolean).join(' · ')}
      </Typography>
    </Box>
  );
}

/** What has failed when a block was used: how often, and when last. */
export function FailureNote({ failure }: { failure: BlockFailure }) {
  const text = useText();
  const { at, times } = failure;
  return <ProblemNote problem={failure} more={text('problem.failed', { times, at: new Date(at).toLocaleString() })} />;
}
