import {
  Button,
  Checkbox,
  Dialog,
  Field,
  Flex,
  MenuItem,
  Popover,
  SimpleMenu,
  SingleSelect,
  SingleSelectOption,
  TextInput,
  Typography,
} from '@strapi/design-system';
import { Download, Filter, Trash } from '@strapi/icons';
import { ConfirmDialog, useFetchClient, useNotification, useTable } from '@strapi/strapi/admin';
import { type FormEvent, useState } from 'react';
import type { AppDetail } from '../../../../../shared/admin-api';
import type { Separator } from '../../../../../shared/cells';
import { isFreeWord } from '../../../../../shared/query/parse';
import { address, encoded, useAction } from '../../../api/base';
import { useAppsDeleteRecordsMutation } from '../../../api/records';
import { saveFile } from '../../../json-files';
import { useText } from '../../../plugin';
import { condition, type Operator, operatorsOf, valuesOf } from './query';

/** Deletes the chosen records of the table, after a question; those that cannot be deleted are named. */
export function BulkDelete({ app }: { app: AppDetail }) {
  const text = useText();
  const act = useAction();
  const { toggleNotification } = useNotification();
  const [deleteRecords] = useAppsDeleteRecordsMutation();
  const [onDelete, setOnDelete] = useState(true);
  const ids = useTable('BulkDelete', (state) => state.selectedRows).map(({ id }) => String(id));
  const select = useTable('BulkDelete', (state) => state.selectRow);
  const remove = async () => {
    const done = await act(() => deleteRecords({ site: app.site, app: app.id, ids, onDelete }).unwrap());
    if (!done) return;
    select([]);
    const { deleted, failed } = done;
    const [first] = failed;
    if (!first) toggleNotification({ type: 'success', message: text('deleted.many', { count: deleted }) });
    else
      toggleNotification({
        type: 'warning',
        message: text('deleted.some', { count: deleted, failed: failed.length, reason: first.message }),
      });
  };
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <Button variant="danger-light" startIcon={<Trash />} disabled={ids.length === 0}>
          {text('delete')}
        </Button>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={remove}>
        <Flex direction="column" gap={4}>
          <Typography>{text('delete.many.confirm', { count: ids.length })}</Typography>
          <Checkbox checked={onDelete} onCheckedChange={(checked) => setOnDelete(checked === true)}>
            {text('delete.many.logic')}
          </Checkbox>
        </Flex>
      </ConfirmDialog>
    </Dialog.Root>
  );
}

/** Saves the records that the query finds as a file. */
export function ExportMenu({ app, query }: { app: AppDetail; query: string }) {
  const text = useText();
  const act = useAction();
  const { get } = useFetchClient();
  const save = (format: 'csv' | 'xlsx' | 'ndjson', separator?: Separator) =>
    act(async () => {
      const url = address('exportRecords', { site: app.site, app: app.id });
      const { data } = await get(url, { params: encoded({ format, query, separator }), responseType: 'blob' });
      saveFile(data, `${app.id}.${format}`);
    });
  return (
    <SimpleMenu label={text('export')} startIcon={<Download />} variant="tertiary">
      <MenuItem onSelect={() => save('csv')}>CSV</MenuItem>
      <MenuItem onSelect={() => save('csv', 'semicolon')}>{text('export.semicolon')}</MenuItem>
      <MenuItem onSelect={() => save('xlsx')}>Excel (XLSX)</MenuItem>
      <MenuItem onSelect={() => save('ndjson')}>NDJSON</MenuItem>
    </SimpleMenu>
  );
}

interface FilterMenuProps {
  app: AppDetail;
  /** Adds a condition to the query. */
  onAdd(added: string): void;
}

/** Builds a condition of the query from an index, an operator and a value. */
export function FilterMenu({ app, onAdd }: FilterMenuProps) {
  const text = useText();
  const [open, setOpen] = useState(false);
  const [index, setIndex] = useState('id');
  const [operator, setOperator] = useState<Operator>('==');
  const [value, setValue] = useState('');
  const indexes = app.indexes.filter(({ name }) => isFreeWord(name));
  const type = indexes.find(({ name }) => name === index)?.type ?? 'field';
  const values = valuesOf(app.columns.find(({ name }) => name === index)).map((one) => String(one.value));
  const choose = (name: string) => {
    const [first = '=='] = operatorsOf(indexes.find((one) => one.name === name)?.type ?? 'field');
    setIndex(name);
    setOperator(first);
    setValue('');
  };
  const add = (event: FormEvent) => {
    event.preventDefault();
    onAdd(condition(app, index, operator, value));
    setOpen(false);
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger>
        <Button variant="tertiary" startIcon={<Filter />}>
          {text('filter')}
        </Button>
      </Popover.Trigger>
      <Popover.Content aria-label={text('filter')}>
        <Flex tag="form" onSubmit={add} direction="column" alignItems="stretch" gap={3} padding={4} minWidth="24rem">
          <Choice label={text('index')} value={index} values={indexes.map(({ name }) => name)} onChange={choose} />
          <Choice
            label={text('filter.operator')}
            value={operator}
            values={operatorsOf(type)}
            onChange={(chosen) => setOperator(chosen as Operator)}
          />
          {values.length > 0 ? (
            <Choice label={text('filter.value')} value={value} values={values} onChange={setValue} />
          ) : (
            <Field.Root hint={text('filter.value.hint')}>
              <Field.Label>{text('filter.value')}</Field.Label>
              <TextInput
                value={value}
                onChange={({ target }: { target: { value: string } }) => setValue(target.value)}
              />
              <Field.Hint />
            </Field.Root>
          )}
          <Button type="submit">{text('filter.add')}</Button>
        </Flex>
      </Popover.Content>
    </Popover.Root>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  values: readonly string[];
  onChange(value: string): void;
}

function Choice({ label, value, values, onChange }: ChoiceProps) {
  return (
    <Field.Root>
      <Field.Label>{label}</Field.Label>
      <SingleSelect value={value || null} onChange={(chosen) => onChange(String(chosen))}>
        {values.map((one) => (
          <SingleSelectOption key={one} value={one}>
            {one}
          </SingleSelectOption>
        ))}
      </SingleSelect>
    </Field.Root>
  );
}
