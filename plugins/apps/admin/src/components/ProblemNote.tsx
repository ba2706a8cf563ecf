import { Box, Typography } from '@strapi/design-system';
import type { BlockFailure, Problem } from '../../../shared/admin-api';
import { positionText } from '../../../shared/positions';
import { useText } from '../plugin';
import { Verbatim } from './Pre';

/** An error with its position, the line of the file, and further details. */
export function ProblemNote({ problem, more, tone = 'danger600' }: { problem: Problem; more?: string; tone?: string }) {
  const { message, excerpt } = problem;
  return (
    <Box role="note" paddingTop={1} paddingBottom={1}>
      <Typography textColor={tone} tag="p">
        {message}
      </Typography>
      <Typography variant="pi" textColor="neutral600" tag="p">
        {[positionText(problem), more].filter(Boolean).join(' · ')}
      </Typography>
      {excerpt && <Verbatim>{excerpt}</Verbatim>}
    </Box>
  );
}

/** A failure of a block in use: how often, and when last. */
export function FailureNote({ failure }: { failure: BlockFailure }) {
  const text = useText();
  const { at, times } = failure;
  return <ProblemNote problem={failure} more={text('problem.failed', { times, at: new Date(at).toLocaleString() })} />;
}
