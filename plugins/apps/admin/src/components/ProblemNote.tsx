import { Box, Typography } from '@strapi/design-system';
import type { Problem } from '../../../shared/admin-api';
import { useText } from '../plugin';

/** A definition error with the place where it is. */
export function ProblemNote({ problem }: { problem: Problem }) {
  const text = useText();
  const { file, line, message } = problem;
  return (
    <Box role="note" paddingTop={1} paddingBottom={1}>
      <Typography textColor="danger600" tag="p">
        {message}
      </Typography>
      <Typography variant="pi" textColor="neutral600" tag="p">
        {line === null ? file : text('problem.place', { file, line })}
      </Typography>
    </Box>
  );
}
