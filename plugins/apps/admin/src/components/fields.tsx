import { Box, Combobox, ComboboxOption, Field, SingleSelect, SingleSelectOption } from '@strapi/design-system';
import { type InputProps, useField } from '@strapi/strapi/admin';
import { forwardRef, useEffect, useState } from 'react';
import type { BlockChoice } from '../../../shared/admin-api';
import { useAppsBlocksQuery } from '../api/apps';
import { useText } from '../plugin';

type BlockInputProps = Pick<InputProps, 'name' | 'label' | 'hint' | 'required' | 'disabled'> & {
  labelAction?: React.ReactNode;
};

const nameOf = ({ app, block }: BlockChoice) => `${app} / ${block}`;

/** Input of the custom field `plugin::apps.block`: a choice of the blocks of all apps of the active themes. */
export const BlockInput = forwardRef<HTMLDivElement, BlockInputProps>(
  ({ name, label, hint, required, disabled, labelAction }, ref) => {
    const text = useText();
    const field = useField<string | null>(name);
    const { data: blocks, error } = useAppsBlocksQuery();
    const value = field.value ?? undefined;
    const preview = blocks?.find((block) => block.value === value);
    const choices = (blocks ?? []).map((block): Choice => ({ value: block.value, label: nameOf(block) }));
    if (value !== undefined && !preview)
      // Whether the theme has the block is not known before the list is loaded.
      choices.push({ value, label: blocks ? text('field.missing', { value }) : value });
    const chosen = choices.find((choice) => choice.value === value);
    const [typed, setTyped] = useState<string | null>(null);
    // biome-ignore lint/correctness/useExhaustiveDependencies: another value replaces what was typed
    useEffect(() => setTyped(null), [value, chosen?.label]);
    const filter = typed === chosen?.label ? '' : (typed ?? '').toLocaleLowerCase();
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
          textValue={typed ?? chosen?.label ?? ''}
          onTextValueChange={setTyped}
          loading={!blocks && !error}
          placeholder={text('field.placeholder')}
          disabled={disabled ?? false}
          // The list is filtered here: the component would filter it by the chosen block too, and show nothing else.
          autocomplete="none"
          onChange={(chosen?: string) => field.onChange(name, chosen ?? null)}
          onClear={() => field.onChange(name, null)}
        >
          {choices
            .filter((choice) => choice === chosen || choice.label.toLocaleLowerCase().includes(filter))
            .map(({ value, label }) => (
              // The component reads the text of an option once.
              <ComboboxOption key={label} value={value}>
                {label}
              </ComboboxOption>
            ))}
        </Combobox>
        {preview && (
          <Box paddingTop={2}>
            {/* As visitors see it. Its scripts have an origin of their own, without access to the panel or to cookies. */}
            <iframe
              title={text('field.preview', { value: preview.value })}
              src={preview.url}
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

export interface Choice {
  value: string;
  label: string;
}

interface ChoiceFieldProps {
  name: string;
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  /** '' for nothing chosen. */
  value: string;
  choices: Choice[];
  /** The choices are not loaded yet, so whether the value is one of them is not known. */
  loading?: boolean | undefined;
  disabled?: boolean | undefined;
  onChange(value: string): void;
}

/** A required choice; a value that is no longer a choice is shown as missing. */
export function ChoiceField({
  name,
  label,
  hint,
  error,
  value,
  choices,
  loading,
  disabled,
  onChange,
}: ChoiceFieldProps) {
  const text = useText();
  const isMissing = value !== '' && !choices.some((choice) => choice.value === value);
  return (
    <Field.Root name={name} hint={hint} error={error} required width="100%">
      <Field.Label>{label}</Field.Label>
      <SingleSelect
        value={value === '' ? null : value}
        placeholder={text('rule.choose')}
        disabled={disabled}
        onChange={(chosen) => onChange(String(chosen))}
      >
        {choices.map((choice) => (
          <SingleSelectOption key={choice.value} value={choice.value}>
            {choice.label}
          </SingleSelectOption>
        ))}
        {isMissing && (
          <SingleSelectOption value={value}>{loading ? value : text('rule.gone', { value })}</SingleSelectOption>
        )}
      </SingleSelect>
      <Field.Hint />
      <Field.Error />
    </Field.Root>
  );
}
