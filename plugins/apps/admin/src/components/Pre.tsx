import { Box, Typography } from '@strapi/design-system';

/** Preformatted text in a monospaced font; long lines wrap. */
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

/** Preformatted text in a box that can be scrolled by keyboard. */
export function Pre({ children }: { children: string }) {
  return (
    <Box overflow="auto" maxHeight="30rem" background="neutral100" padding={3} hasRadius tabIndex={0}>
      <Verbatim>{children}</Verbatim>
    </Box>
  );
}

/** Preformatted text below its name. */
export function Labelled({ label, children }: { label: string; children: string }) {
  return (
    <Box>
      <Typography variant="sigma">{label}</Typography>
      <Pre>{children}</Pre>
    </Box>
  );
}
