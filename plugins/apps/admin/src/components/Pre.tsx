import { Box, Typography } from '@strapi/design-system';

/** A text as it is, in letters of one width; its long lines wrap. */
export function Verbatim({ children }: { children: string }) {
  return (
    <Typography
      tag="pre"
      variant="pi"
      style={{ fontFamily: 'monospace', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
    >
      {children}
    </Typography>
  );
}

/** A text as it is, in a box that the keyboard scrolls too. */
export function Pre({ children }: { children: string }) {
  return (
    <Box overflow="auto" maxHeight="30rem" background="neutral100" padding={3} hasRadius tabIndex={0}>
      <Verbatim>{children}</Verbatim>
    </Box>
  );
}
