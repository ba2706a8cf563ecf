import {
  Box,
  Button,
  Checkbox,
  Dialog,
  Flex,
  IconButton,
  Table,
  Tbody,
  Td,
  Th,
  Thead,
  Tr,
  Typography,
} from '@strapi/design-system';
import { Trash } from '@strapi/icons';
import { ConfirmDialog } from '@strapi/strapi/admin';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useText } from '../plugin';

interface Column<T> {
  title: string;
  cell(row: T): ReactNode;
}

interface DataTableProps<T> {
  /** Subject of the table, for screen readers. */
  label: string;
  /** Shown instead of a table without rows. */
  empty: string;
  rows: T[];
  rowKey(row: T): string;
  columns: Column<T>[];
}

/** A plain table of the design system; strings and numbers in its cells are set as text, and long texts wrap. */
export function DataTable<T>({ label, empty, rows, rowKey, columns }: DataTableProps<T>) {
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
                <Typography tag="div" style={{ whiteSpace: 'normal' }} onKeyDown={keepKeys}>
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

/**
 * Of a cell with several buttons the table gets only the keys that lead from cell to cell, or out of one. It would take all of
 * them, so that Enter and Tab would do nothing, also in the question that a button asks.
 */
export function keepKeys(event: KeyboardEvent) {
  const { currentTarget, target, key } = event;
  if (currentTarget.querySelectorAll('a, button').length < 2) return;
  const leads = /^(Arrow|Home|End|Page|Escape)/.test(key) && currentTarget.contains(target as Node);
  if (!leads) event.stopPropagation();
}

interface OlderEntriesProps {
  /** Where the shown part of the list begins; undefined: with the latest entry. */
  before: string | undefined;
  /** Where the next part begins; null at the end, undefined while it is not known. */
  older: string | null | undefined;
  onChoose(before: string | undefined): void;
  /** What is said beside the buttons. */
  children?: ReactNode;
}

/** The buttons of a list that is shown in parts: the latest entries again, and older ones. */
export function OlderEntries({ before, older, onChoose, children }: OlderEntriesProps) {
  const text = useText();
  return (
    <Flex gap={2}>
      {before && (
        <Button variant="tertiary" onClick={() => onChoose(undefined)}>
          {text('run.latest')}
        </Button>
      )}
      {older && (
        <Button variant="tertiary" onClick={() => onChoose(older)}>
          {text('run.older')}
        </Button>
      )}
      {children}
    </Flex>
  );
}

interface DeleteButtonProps {
  /** Label of the button, for screen readers. */
  label: string;
  /** The question that must be confirmed first. */
  question: string;
  /** A checkbox beside the question, checked at first. */
  option?: string;
  onDelete(chosen: boolean): Promise<unknown>;
}

/** Deletes something after a confirmation. */
export function DeleteButton({ label, question, option, onDelete }: DeleteButtonProps) {
  const [chosen, setChosen] = useState(true);
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <IconButton label={label} variant="ghost">
          <Trash />
        </IconButton>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={async () => void (await onDelete(chosen))}>
        {option ? (
          <Flex direction="column" gap={4}>
            <Typography>{question}</Typography>
            <Checkbox checked={chosen} onCheckedChange={(checked) => setChosen(checked === true)}>
              {option}
            </Checkbox>
          </Flex>
        ) : (
          question
        )}
      </ConfirmDialog>
    </Dialog.Root>
  );
}
