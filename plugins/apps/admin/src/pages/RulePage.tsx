import { Button, Field, Flex, Grid, Link, TextInput, Toggle, Typography } from '@strapi/design-system';
import { ArrowLeft, Check } from '@strapi/icons';
import { Layouts, Page, useNotification } from '@strapi/strapi/admin';
import { type FormEvent, type ReactNode, useState } from 'react';
import { NavLink, useNavigate, useParams } from 'react-router-dom';
import { type Rule, type RuleChoices, type RuleInput, ruleEvents } from '../../../shared/admin-api';
import { useAppsRunsQuery } from '../api/activity';
import {
  useAppsCreateRuleMutation,
  useAppsRuleChoicesQuery,
  useAppsRuleFunctionsQuery,
  useAppsRulesQuery,
  useAppsUpdateRuleMutation,
} from '../api/apps';
import { type PanelError, useErrorText } from '../api/base';
import { DataTable } from '../components/DataTable';
import { type Choice, ChoiceField } from '../components/fields';
import { Section } from '../components/page';
import { useMay } from '../permissions';
import { pluginId, useText } from '../plugin';
import { RunsTable } from './app/RunsTab';

/** A rule while it is entered; '' is nothing chosen yet. */
type Draft = Omit<RuleInput, 'event'> & { event: RuleInput['event'] | '' };

const empty: Draft = { name: '', enabled: true, event: '', contentType: '', app: '', block: '', function: '' };

/** Errors by the key of the rule. */
type Errors = Partial<Record<string, string>>;

/** The rule being entered, its errors, and a function that saves it. */
function useDraft(rule: Rule | undefined, onSaved: () => void) {
  const text = useText();
  const textOf = useErrorText();
  const [updateRule] = useAppsUpdateRuleMutation();
  const [createRule] = useAppsCreateRuleMutation();
  const { toggleNotification } = useNotification();
  // Only what is entered here: the rest follows the rule, which others may change meanwhile.
  const [entered, setEntered] = useState<Partial<Draft>>({});
  const stored = inputOf(rule);
  const draft: Draft = { ...stored, ...entered };
  const [errors, setErrors] = useState<Errors>({});
  const [saving, setSaving] = useState(false);

  const change = (changes: Partial<Draft>) => {
    setEntered((previous) => ({ ...previous, ...changes }));
    setErrors((previous) => Object.fromEntries(Object.entries(previous).filter(([key]) => !(key in changes))));
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const missing = Object.keys(draft).filter((key) => draft[key as keyof Draft] === '');
    if (missing.length > 0) return setErrors(Object.fromEntries(missing.map((key) => [key, text('rule.required')])));
    setSaving(true);
    try {
      const changed = Object.entries(entered).filter(([key, value]) => value !== stored[key as keyof Draft]);
      const changes = Object.fromEntries(changed) as Partial<RuleInput>;
      await (rule ? updateRule({ rule: rule.id, changes }) : createRule(draft as RuleInput)).unwrap();
      toggleNotification({ type: 'success', message: text('rule.saved') });
      onSaved();
    } catch (error) {
      const message = textOf(error) ?? '';
      const key = keyOf(error);
      if (key === null) toggleNotification({ type: 'danger', message });
      else setErrors({ [key]: message });
    } finally {
      setSaving(false);
    }
  };
  return { draft, change, errors, saving, submit };
}

function inputOf(rule: Rule | undefined): Draft {
  if (!rule) return empty;
  const { id: _id, failures: _failures, problem: _problem, ...input } = rule;
  return input;
}

/** The key of the rule that the server's error is about; null for another error. */
function keyOf(error: unknown): string | null {
  const { key } = ((error as PanelError).details ?? {}) as { key?: unknown };
  return typeof key === 'string' && key in empty ? key : null;
}

/** The functions of the chosen block; undefined while they are loaded, and for those who may not change rules. */
function useFunctions({ app, block }: Draft) {
  const textOf = useErrorText();
  const may = useMay();
  const skip = block === '' || !may('manage');
  const { currentData, error } = useAppsRuleFunctionsQuery({ app, block }, { skip });
  return { data: block === '' || error ? [] : currentData, error: block === '' ? null : textOf(error) };
}

interface RuleFormProps {
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
function RuleForm({ rule, choices, onSaved, header, children }: RuleFormProps) {
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
                draft={draft}
                errors={errors}
                change={change}
              />
              <Choices
                name="event"
                label={text('event')}
                hint={text('rule.event.hint')}
                choices={events.map((event) => ({ value: event, label: text(`event.${event}`) }))}
                draft={draft}
                errors={errors}
                change={change}
              />
            </Grid.Root>
          </Section>
          <Section title={text('rule.what')}>
            <Grid.Root gap={5}>
              <Choices
                name="app"
                label={text('app')}
                choices={choices.apps.map(({ id }) => ({ value: id, label: id }))}
                draft={draft}
                errors={errors}
                change={({ app = '' }) => app !== draft.app && change({ app, block: '', function: '' })}
              />
              <Choices
                name="block"
                label={text('block')}
                hint={draft.app && blocks.length === 0 ? text('rule.block.none') : text('rule.block.hint')}
                choices={blocks.map((id) => ({ value: id, label: id }))}
                disabled={draft.app === ''}
                draft={draft}
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
                draft={draft}
                errors={errors}
                change={change}
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

/** The address of the plugin's first page. */
const overviewPath = `/plugins/${pluginId}`;

/** Makes a rule on events (`rules/create`), or changes one, and shows its runs and failures. */
export default function RulePage() {
  const text = useText();
  const may = useMay();
  const textOf = useErrorText();
  const navigate = useNavigate();
  const { rule: id = 'create' } = useParams();
  const { data: choices, error: choicesError } = useAppsRuleChoicesQuery();
  const { data: rules, error: rulesError } = useAppsRulesQuery(undefined, { refetchOnMountOrArgChange: true });
  const error = textOf(choicesError ?? rulesError);
  if (error) return <Page.Error content={error} />;
  if (!choices || !rules) return <Page.Loading />;
  const rule = rules.find((one) => one.id === id);
  if (!rule && id !== 'create') return <Page.Error content={text('rule.missing')} />;
  const title = rule?.name ?? text('rule.create');
  return (
    <Page.Main>
      <Page.Title>{title}</Page.Title>
      <RuleForm
        rule={rule}
        choices={choices}
        onSaved={() => navigate(overviewPath)}
        header={(save) => (
          <Layouts.Header
            title={title}
            subtitle={text('rule.subtitle')}
            primaryAction={save}
            navigationAction={
              <Link tag={NavLink} to={overviewPath} startIcon={<ArrowLeft />}>
                {text('back')}
              </Link>
            }
          />
        )}
      >
        {rule && may(['develop']) && <Runs rule={rule} />}
        {rule && <Failures rule={rule} />}
      </RuleForm>
    </Page.Main>
  );
}

/** The rule's runs that are still kept, whether they failed or not. */
function Runs({ rule }: { rule: Rule }) {
  const text = useText();
  const textOf = useErrorText();
  const { data, error } = useAppsRunsQuery({ rule: rule.id, limit: 20 }, { refetchOnMountOrArgChange: true });
  return (
    <Section title={text('rule.runs')}>
      {error && <Typography textColor="danger600">{textOf(error)}</Typography>}
      {data && <RunsTable runs={data.runs} empty={text('rule.runs.none')} />}
    </Section>
  );
}

/** Failures that are stored with the rule. */
function Failures({ rule }: { rule: Rule }) {
  const text = useText();
  return (
    <Section title={text('rule.failures')}>
      <DataTable
        label={text('rule.failures')}
        empty={text('rule.failures.none')}
        rows={rule.failures}
        rowKey={(failure) => `${failure.at} ${failure.documentId} ${failure.message}`}
        columns={[
          { title: text('rule.failure.at'), cell: ({ at }) => new Date(at).toLocaleString() },
          { title: text('rule.failure.document'), cell: ({ documentId }) => documentId },
          { title: text('rule.failure.message'), cell: ({ message }) => message },
        ]}
      />
    </Section>
  );
}
