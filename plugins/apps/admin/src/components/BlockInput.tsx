import { Box, Combobox, ComboboxOption, Field } from '@strapi/design-system';
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
    const chosen = blocks.find((block) => block.value === value);
    const isMissing = value !== undefined && !chosen;
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
        <Combobox
          value={value}
          placeholder={text('field.placeholder')}
          disabled={disabled ?? false}
          autocomplete={{ type: 'list', filter: 'contains' }}
          onChange={(chosen?: string) => field.onChange(name, chosen ?? null)}
          onClear={() => field.onChange(name, null)}
        >
          {blocks.map((block) => (
            <ComboboxOption key={block.value} value={block.value}>
              {`${block.app} / ${block.block}`}
            </ComboboxOption>
          ))}
          {isMissing && <ComboboxOption value={value}>{text('field.missing', { value })}</ComboboxOption>}
        </Combobox>
        {chosen && (
          <Box paddingTop={2}>
            {/* As visitors see it. Its scripts have an origin of their own, without access to the panel or to cookies. */}
            <iframe
              title={text('field.preview', { value: chosen.value })}
              src={chosen.url}
              sandbox="allow-scripts"
              loading="lazy"
              style={{ width: '100%', height: '16rem', border: 0, background: '#fff' }}
            />
          </Box>
        )}
        <Field.Hint />
        <Field.Error />
      </Field.Root>
    );
  },
);
