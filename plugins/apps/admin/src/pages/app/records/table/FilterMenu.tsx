import { Button, Field, Flex, Popover, SingleSelect, SingleSelectOption, TextInput } from '@strapi/design-system';
import { Filter } from '@strapi/icons';
import { type FormEvent, useState } from 'react';
import type { AppDetail } from '../../../../../../shared/admin-api';
import { useText } from '../../../../plugin';
import { condition, type Operator, operatorsOf, valuesOf } from './query';

interface Props {
  app: AppDetail;
  /** Adds a condition to the query. */
  onAdd(added: string): void;
}

/** Builds a condition of the query from an index, an operator and a value. */
export function FilterMenu({ app, onAdd }: Props) {
  const text = useText();
  const [open, setOpen] = useState(false);
  const [index, setIndex] = useState('id');
  const [operator, setOperator] = useState<Operator>('==');
  const [value, setValue] = useState('');
  const { indexes } = app;
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
