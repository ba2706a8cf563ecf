import { Box, Typography } from '@strapi/design-system';
import type { SetupProblem } from '../../../../shared/admin-api';
import { Verbatim } from '../../components/Pre';
import { useText } from '../../plugin';

/** What the machine or the host lacks, each with the command or the line that cures it. */
export function SetupNotes({ problems }: { problems: SetupProblem[] }) {
  const text = useText();
  if (problems.length === 0) return null;
  return (
    <Box tag="section" aria-label={text('setup')} background="danger100" borderColor="danger200" hasRadius padding={6}>
      <Typography variant="beta" tag="h2">
        {text('setup')}
      </Typography>
      {problems.map(({ message, cure }) => (
        <Box key={message} role="note" paddingTop={3}>
          <Typography tag="p">{message}</Typography>
          {cure && <Verbatim>{cure}</Verbatim>}
        </Box>
      ))}
    </Box>
  );
}
