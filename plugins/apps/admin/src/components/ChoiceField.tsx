import { Field, SingleSelect, SingleSelectOption } from '@strapi/design-system';
import { useText } from '../plugin';

export interface Choice {
  value: string;
  label: string;
}

interface Props {
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
export function ChoiceField({ name, label, hint, error, value, choices, loading, disabled, onChange }: Props) {
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
