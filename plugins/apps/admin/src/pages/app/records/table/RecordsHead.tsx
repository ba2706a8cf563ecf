import { Checkbox, Flex, Th, Thead, Tr, Typography } from '@strapi/design-system';
import { CaretDown, CaretUp } from '@strapi/icons';
import { useQueryParams, useTable } from '@strapi/strapi/admin';
import { useEffect, useRef } from 'react';
import { useText } from '../../../../plugin';

export interface Header {
  name: string;
  label: string;
  sortable: boolean;
}

/**
 * The head of the table of records. It is not `Table.Head`, whose cells do not get their places in the table: the keyboard
 * could not leave them for the rows.
 */
export function RecordsHead({ headers, mayChange }: { headers: Header[]; mayChange: boolean }) {
  const [{ query }, setQuery] = useQueryParams<{ sort?: string }>();
  const [sorted, direction] = (query?.sort ?? '').split(':');
  const sort = (name: string) =>
    setQuery({ sort: `${name}:${name === sorted && direction === 'ASC' ? 'DESC' : 'ASC'}` });
  const orderOf = (name: string) => {
    if (name !== sorted) return undefined;
    return direction === 'DESC' ? 'descending' : 'ascending';
  };
  return (
    <Thead>
      <Tr>
        {mayChange && (
          <Th>
            <SelectAll />
          </Th>
        )}
        {headers.map(({ name, label, sortable }) => (
          <Th key={name} role="columnheader" aria-sort={orderOf(name)}>
            <Label label={label} order={orderOf(name)} onSort={sortable ? () => sort(name) : undefined} />
          </Th>
        ))}
      </Tr>
    </Thead>
  );
}

interface LabelProps {
  label: string;
  order: 'ascending' | 'descending' | undefined;
  /** Without it the column cannot be sorted by. */
  onSort: (() => void) | undefined;
}

function Label({ label, order, onSort }: LabelProps) {
  const shown = (
    <Typography variant="sigma" textColor="neutral600">
      {label}
    </Typography>
  );
  if (!onSort) return shown;
  return (
    <Flex
      tag="button"
      type="button"
      gap={1}
      onClick={onSort}
      style={{ border: 0, padding: 0, background: 'none', cursor: 'pointer' }}
    >
      {shown}
      {order === 'ascending' && <CaretUp aria-hidden />}
      {order === 'descending' && <CaretDown aria-hidden />}
    </Flex>
  );
}

/** Chooses all records of the page, or none. */
function SelectAll() {
  const text = useText();
  const rows = useTable('SelectAll', (state) => state.rows);
  const selected = useTable('SelectAll', (state) => state.selectedRows);
  const select = useTable('SelectAll', (state) => state.selectRow);
  const box = useRef<HTMLButtonElement>(null);
  // The cell has counted the hidden input that a check box begins with, and would keep the focus for itself.
  useEffect(() => {
    box.current?.closest('th')?.removeAttribute('tabindex');
    if (box.current) box.current.tabIndex = 0;
  }, []);
  // Another page or search has other rows: what is no longer shown must not be deleted with the rest.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a choice of rows is no change of the rows
  useEffect(() => {
    const shown = selected.filter(({ id }) => rows.some((row) => row.id === id));
    if (shown.length < selected.length) select(shown);
  }, [rows]);
  const all = rows.length > 0 && selected.length === rows.length;
  return (
    <Checkbox
      ref={box}
      aria-label={text('records.select')}
      disabled={rows.length === 0}
      checked={selected.length > 0 && !all ? 'indeterminate' : all}
      onCheckedChange={() => select(all ? [] : rows)}
    />
  );
}
