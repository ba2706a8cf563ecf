import { Field, Flex, SingleSelect, SingleSelectOption } from '@strapi/design-system';
import type { AppDetail, ImportOptions, ImportPreview } from '../../../../../../shared/admin-api';
import { encodings, separatorNames } from '../../../../../../shared/cells';
import { useText } from '../../../../plugin';

/** What is chosen about a file; what is left out is found in it. */
export type Choices = Omit<ImportOptions, 'name' | 'mapping'>;

/** Languages in which tables are written, besides that of the file itself. */
const LANGUAGES = ['en', 'en-GB', 'de', 'de-CH', 'fr', 'es', 'it', 'nl', 'pt', 'pl'];

interface Props {
  app: AppDetail;
  /** Of a file that could be read. */
  preview: ImportPreview | null;
  isText: boolean;
  choices: Choices;
  onChange(choices: Choices): void;
}

interface ChoiceProps {
  label: string;
  /** What is meant without a choice. */
  usual: string;
  value: string | undefined;
  options: readonly (readonly [value: string, label: string])[];
  onChange(value: string | undefined): void;
}

function Choice({ label, usual, value, options, onChange }: ChoiceProps) {
  return (
    <Field.Root minWidth="12rem">
      <Field.Label>{label}</Field.Label>
      <SingleSelect value={value ?? ''} onChange={(chosen) => onChange(String(chosen) || undefined)}>
        <SingleSelectOption value="">{usual}</SingleSelectOption>
        {options.map(([one, shown]) => (
          <SingleSelectOption key={one} value={one}>
            {shown}
          </SingleSelectOption>
        ))}
      </SingleSelect>
    </Field.Root>
  );
}

/** How a table is written, where it does not say so itself, and the block of its records. */
export function ImportChoices({ app, preview, isText, choices, onChange }: Props) {
  const text = useText();
  const names = new Intl.DisplayNames([document.documentElement.lang || 'en'], { type: 'language' });
  const set = (name: keyof Choices) => (value: string | undefined) => {
    const { [name]: _before, ...others } = choices;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  const found = text('import.found');
  const named = (one: (typeof separatorNames)[number]) => text(`import.separator.${one}`);
  const separator = preview?.separator ? `${found}: ${named(preview.separator)}` : found;
  const encoding = preview?.encoding ? `${found}: ${preview.encoding}` : found;
  return (
    <Flex gap={4} wrap="wrap" alignItems="flex-start">
      <Choice
        label={text('import.language')}
        usual={text('import.language.none')}
        value={choices.language}
        options={LANGUAGES.map((tag) => [tag, names.of(tag) ?? tag])}
        onChange={set('language')}
      />
      {isText && (
        <>
          <Choice
            label={text('import.separator')}
            usual={separator}
            value={choices.separator}
            options={separatorNames.map((one) => [one, named(one)])}
            onChange={set('separator')}
          />
          <Choice
            label={text('import.encoding')}
            usual={encoding}
            value={choices.encoding}
            options={encodings.map((one) => [one, one])}
            onChange={set('encoding')}
          />
        </>
      )}
      {(preview?.sheets.length ?? 0) > 1 && (
        <Choice
          label={text('import.sheet')}
          usual={preview?.sheets[0] ?? ''}
          value={choices.sheet}
          options={(preview?.sheets ?? []).slice(1).map((one) => [one, one])}
          onChange={set('sheet')}
        />
      )}
      {app.blocks.length > 0 && (
        <Choice
          label={text('import.block')}
          usual={text('import.block.none')}
          value={choices.block}
          options={app.blocks.map(({ id }) => [id, id])}
          onChange={set('block')}
        />
      )}
    </Flex>
  );
}
