import { Box, Field, Flex, TextInput, Typography } from '@strapi/design-system';
import type { ColumnSummary, ImportPreview } from '../../../../../../shared/admin-api';
import { DataTable } from '../../../../components/DataTable';
import { Pre } from '../../../../components/Pre';
import { useText } from '../../../../plugin';

interface Props {
  preview: ImportPreview;
  mapping: Record<string, string | null>;
  columns: ColumnSummary[];
  onChange(mapping: Record<string, string | null>): void;
}

/** The columns of a file with the items that they become, its first records, and its mistakes by line. */
export function ImportMapping({ preview, mapping, columns, onChange }: Props) {
  const text = useText();
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <datalist id="apps-import-items">
        {columns.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <DataTable
        label={text('import.columns')}
        empty=""
        rows={preview.columns}
        rowKey={({ name }) => name}
        columns={[
          { title: text('import.column'), cell: ({ name }) => name },
          { title: text('import.example'), cell: ({ example }) => example },
          {
            title: text('import.item'),
            cell: ({ name, item }) => (
              <Field.Root minWidth="16rem">
                <TextInput
                  key={`${name} ${item}`}
                  aria-label={text('import.item.of', { column: name })}
                  list="apps-import-items"
                  defaultValue={name in mapping ? (mapping[name] ?? '') : (item ?? '')}
                  maxLength={255}
                  onBlur={({ target }: { target: { value: string } }) => {
                    const chosen = target.value.trim() || null;
                    if (chosen !== item) onChange({ ...mapping, [name]: chosen });
                  }}
                />
              </Field.Root>
            ),
          },
          {
            title: text('import.kind'),
            cell: ({ kind }) => (kind === null ? '' : text(`import.kind.${kind}`)),
          },
        ]}
      />
      <Typography textColor="neutral600">{text('import.item.hint')}</Typography>
      {preview.problems.length > 0 && (
        <Box role="alert">
          <Typography textColor="danger600">{text('import.wrong', { count: preview.wrong })}</Typography>
          <ul>
            {preview.problems.map(({ line, message }) => (
              <li key={`${line} ${message}`}>
                <Typography>{text('import.problem', { line, message })}</Typography>
              </li>
            ))}
          </ul>
        </Box>
      )}
      {preview.first.length > 0 && (
        <Pre>{preview.first.map(({ id, items }) => `${id ?? '…'} ${JSON.stringify(items)}`).join('\n')}</Pre>
      )}
    </Flex>
  );
}
