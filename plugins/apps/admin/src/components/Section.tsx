import { Box, Typography } from '@strapi/design-system';
import type { ReactNode } from 'react';

/** A part of a page, on white. */
export function Section({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Box tag="section" background="neutral0" shadow="tableShadow" hasRadius padding={6} aria-label={title}>
      {title && (
        <Box paddingBottom={4}>
          <Typography variant="delta" tag="h2">
            {title}
          </Typography>
        </Box>
      )}
      {children}
    </Box>
  );
}
