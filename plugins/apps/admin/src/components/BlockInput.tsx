import { Field, SingleSelect, SingleSelectOption } from '@strapi/design-system';
import { type InputProps, useField } from '@strapi/strapi/admin';
import { forwardRef } from 'react';
import { useAppsBlocksQuery } from '../api/tiles';
import { useText } from '../plugin';

type Props = Pick<InputProps, 'name' | 'label' | 'hint' | 'required' | 'disabled'> & { labelAction?: React.ReactNode };

/** Input of the custom field `plugin::apps.block`: a choice of the blocks of all apps of the active themes. */
export const BlockInput = forwardRef<HTMLDivElement, Props>(
  ({ name, label, hint, required, disabled, labelAction }, ref) => {
    const text = useText();
    const field = useField<string | null>(name);
    const { data: blocks = [], error } = useAppsBlocksQuery();
    const value = field.value ?? undefined;
    const isMissing = value !== undefined && !blocks.some((block) => block.value === value);
    return (
      <Field.Root
        ref={ref}
        name={name}
        id={name}
        hint={hint}
        required={required}
        error={field.error ?? (error ? text('field.failed') : undefined)}
      >
        <Field.Label action={labelAction}>{label}</Field.Label>
        <SingleSelect
          value={value}
          placeholder={text('field.placeholder')}
          disabled={disabled}
          onChange={(chosen) => field.onChange(name, String(chosen))}
          onClear={required ? undefined : () => field.onChange(name, null)}
        >
          {blocks.map((block) => (
            <SingleSelectOption key={block.value} value={block.value}>
              {`${block.app} / ${block.block}`}
            </SingleSelectOption>
          ))}
          {isMissing && <SingleSelectOption value={value}>{text('field.missing', { value })}</SingleSelectOption>}
        </SingleSelect>
        <Field.Hint />
        <Field.Error />
      </Field.Root>
    );
  },
);
