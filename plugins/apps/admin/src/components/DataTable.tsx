import { Box, Table, Tbody, Td, Th, Thead, Tr, Typography } from '@strapi/design-system';
import type { ReactNode } from 'react';

interface Column<T> {
  title: string;
  cell(row: T): ReactNode;
}

interface Props<T> {
  /** Subject of the table, for screen readers. */
  label: string;
  /** Shown instead of a table without rows. */
  empty: string;
  rows: T[];
  rowKey(row: T): string;
  columns: Column<T>[];
}

/** A plain table of the design system; strings and numbers in its cells are set as text, and long texts wrap. */
export function DataTable<T>({ label, empty, rows, rowKey, columns }: Props<T>) {
  if (rows.length === 0) {
    return (
      <Box padding={4}>
        <Typography textColor="neutral600">{empty}</Typography>
      </Box>
    );
  }
  return (
    <Table colCount={columns.length} rowCount={rows.length + 1} aria-label={label}>
      <Thead>
        <Tr>
          {columns.map(({ title }) => (
            <Th key={title}>
              <Typography variant="sigma">{title}</Typography>
            </Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>
        {rows.map((row) => (
          <Tr key={rowKey(row)}>
            {columns.map(({ title, cell }) => (
              <Td key={title}>
                <Typography tag="div" style={{ whiteSpace: 'normal' }}>
                  {cell(row)}
                </Typography>
              </Td>
            ))}
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
