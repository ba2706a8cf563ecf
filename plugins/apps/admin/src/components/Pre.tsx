import { Box, Typography } from '@strapi/design-system';

/** A text as it is, with its long lines wrapped; the keyboard scrolls it too. */
export function Pre({ children }: { children: string }) {
  return (
    <Box tag="pre" overflow="auto" maxHeight="30rem" background="neutral100" padding={3} hasRadius tabIndex={0}>
      <Typography tag="code" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {children}
      </Typography>
    </Box>
  );
}
