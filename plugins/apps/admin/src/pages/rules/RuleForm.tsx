import { Button, Field, Flex, Grid, TextInput, Toggle } from '@strapi/design-system';
import { Check } from '@strapi/icons';
import { Layouts } from '@strapi/strapi/admin';
import type { ReactNode } from 'react';
import { type Rule, type RuleChoices, ruleEvents } from '../../../../shared/admin-api';
import { type Choice, ChoiceField } from '../../components/ChoiceField';
import { Section } from '../../components/Section';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { type Draft, type Errors, useDraft, useFunctions } from './rule-draft';

interface Props {
  /** The rule to change; without it a new one is made. */
  rule: Rule | undefined;
  choices: RuleChoices;
  onSaved(): void;
  /** The page's header around the button that saves. */
  header(save: ReactNode): ReactNode;
  /** Shown below the form. */
  children?: ReactNode;
}

/** The form of a rule; an error of the server is shown at its field. */
export function RuleForm({ rule, choices, onSaved, header, children }: Props) {
  const text = useText();
  const may = useMay();
  const { draft, change, errors, saving, submit } = useDraft(rule, onSaved);
  const functions = useFunctions(draft);
  const type = choices.contentTypes.find(({ uid }) => uid === draft.contentType);
  const events = ruleEvents.filter((event) => type?.hasDrafts !== false || !event.endsWith('publish'));
  const blocks = choices.apps.find(({ id }) => id === draft.app)?.blocks ?? [];
  const save = (
    <Button type="submit" startIcon={<Check />} loading={saving} disabled={!may('manage')}>
      {text('rule.save')}
    </Button>
  );
  return (
    <form onSubmit={submit} noValidate>
      {header(save)}
      <Layouts.Content>
        <Flex direction="column" alignItems="stretch" gap={6}>
          <Section>
            <Grid.Root gap={5}>
              <Cell>
                <Field.Root name="name" error={errors.name} required width="100%">
                  <Field.Label>{text('rule.name')}</Field.Label>
                  <TextInput
                    value={draft.name}
                    maxLength={255}
                    onChange={({ target }: { target: { value: string } }) => change({ name: target.value })}
                  />
                  <Field.Error />
                </Field.Root>
              </Cell>
              <Cell>
                <Field.Root name="enabled" width="100%">
                  <Field.Label>{text('rule.enabled')}</Field.Label>
                  <Toggle
                    onLabel={text('rule.on')}
                    offLabel={text('rule.off')}
                    checked={draft.enabled}
                    onChange={() => change({ enabled: !draft.enabled })}
                  />
                </Field.Root>
              </Cell>
            </Grid.Root>
          </Section>
          <Section title={text('rule.when')}>
            <Grid.Root gap={5}>
              <Choices
                name="contentType"
                label={text('rule.contentType')}
                choices={choices.contentTypes.map(({ uid, name }) => ({ value: uid, label: name }))}
                {...{ draft, errors, change }}
              />
              <Choices
                name="event"
                label={text('event')}
                hint={text('rule.event.hint')}
                choices={events.map((event) => ({ value: event, label: text(`event.${event}`) }))}
                {...{ draft, errors, change }}
              />
            </Grid.Root>
          </Section>
          <Section title={text('rule.what')}>
            <Grid.Root gap={5}>
              <Choices
                name="app"
                label={text('app')}
                choices={choices.apps.map(({ id }) => ({ value: id, label: id }))}
                {...{ draft, errors }}
                change={({ app = '' }) => app !== draft.app && change({ app, block: '', function: '' })}
              />
              <Choices
                name="block"
                label={text('block')}
                hint={draft.app && blocks.length === 0 ? text('rule.block.none') : text('rule.block.hint')}
                choices={blocks.map((id) => ({ value: id, label: id }))}
                disabled={draft.app === ''}
                {...{ draft }}
                errors={{ block: errors.block ?? functions.error ?? undefined }}
                change={({ block = '' }) => block !== draft.block && change({ block, function: '' })}
              />
              <Choices
                name="function"
                label={text('function')}
                hint={
                  draft.block && !functions.error && functions.data?.length === 0
                    ? text('rule.function.none')
                    : text('rule.function.hint')
                }
                choices={(functions.data ?? []).map((name) => ({ value: name, label: name }))}
                loading={functions.data === undefined}
                disabled={draft.block === ''}
                {...{ draft, errors, change }}
              />
            </Grid.Root>
          </Section>
          {children}
        </Flex>
      </Layouts.Content>
    </form>
  );
}

function Cell({ children }: { children: ReactNode }) {
  return (
    <Grid.Item col={6} xs={12} direction="column" alignItems="stretch">
      {children}
    </Grid.Item>
  );
}

interface ChoicesProps {
  name: Exclude<keyof Draft, 'name' | 'enabled'>;
  label: string;
  hint?: string;
  choices: Choice[];
  loading?: boolean;
  disabled?: boolean;
  draft: Draft;
  errors: Errors;
  change(changes: Partial<Draft>): void;
}

/** One choice of the rule's form. */
function Choices({ name, draft, errors, change, ...rest }: ChoicesProps) {
  return (
    <Cell>
      <ChoiceField
        name={name}
        value={draft[name]}
        error={errors[name]}
        onChange={(value) => change({ [name]: value })}
        {...rest}
      />
    </Cell>
  );
}
