import { Button, Checkbox, Flex, Popover } from '@strapi/design-system';
import { Cog } from '@strapi/icons';
import type { ColumnSummary } from '../../../../../../shared/admin-api';
import { useText } from '../../../../plugin';

interface Props {
  columns: ColumnSummary[];
  shown: ColumnSummary[];
  onChoose(names: string[]): void;
}

/** The choice of the columns that the list shows. */
export function ColumnsMenu({ columns, shown, onChoose }: Props) {
  const text = useText();
  const names = shown.map(({ name }) => name);
  const toggle = (name: string) =>
    onChoose(names.includes(name) ? names.filter((one) => one !== name) : [...names, name]);
  return (
    <Popover.Root>
      <Popover.Trigger>
        <Button variant="tertiary" startIcon={<Cog />}>
          {text('columns')}
        </Button>
      </Popover.Trigger>
      <Popover.Content aria-label={text('columns')}>
        <Flex direction="column" alignItems="flex-start" gap={2} padding={4}>
          {columns.map(({ name, label }) => (
            <Checkbox key={name} checked={names.includes(name)} onCheckedChange={() => toggle(name)}>
              {label === name ? name : `${label} (${name})`}
            </Checkbox>
          ))}
        </Flex>
      </Popover.Content>
    </Popover.Root>
  );
}
