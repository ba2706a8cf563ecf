import { Box, Field, Flex, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import { useState } from 'react';
import {
  type AppDetail,
  contentOperations,
  type Extent,
  type Ground,
  type RecordOperation,
  recordOperations,
  type WhyQuery,
  type WhyStep,
} from '../../../../shared/admin-api';
import { useErrorText } from '../../api/base';
import { useAppsRightsMatrixQuery, useAppsWhyQuery } from '../../api/records';
import { DataTable } from '../../components/DataTable';
import { ProblemNote, Section } from '../../components/page';
import { useText } from '../../plugin';
import { useDebouncedValue } from '../../use-debounced';

const signs: Record<Extent, string> = { all: '✓', own: '◐', none: '–' };

/** A choice, and how it is shown. */
type Named = [value: string, name: string];

const isOfRecords = (operation: WhyQuery['operation']): operation is RecordOperation | 'show' =>
  operation === 'show' || (recordOperations as readonly string[]).includes(operation);

/** The text of an operation on records. Those on content have the names of their methods. */
const nameOf = (operation: WhyQuery['operation'], text: ReturnType<typeof useText>): string =>
  isOfRecords(operation) ? text(`rights.do.${operation}`) : operation;

/** Who may do what with an app, and why. */
export default function RightsTab({ app }: { app: AppDetail }) {
  const text = useText();
  const { data } = useAppsRightsMatrixQuery({ site: app.site, app: app.id });
  const groups = data?.groups ?? [];
  return (
    <Flex direction="column" alignItems="stretch" gap={6}>
      <Question app={app} groups={groups} types={data?.contentTypes ?? []} />
      <Section title={text('rights.matrix')}>
        <Typography textColor="neutral600">{text('rights.matrix.hint')}</Typography>
        <Box overflow="auto" paddingTop={3}>
          <DataTable
            label={text('rights.matrix')}
            empty={text('rights.empty')}
            rows={data?.rows ?? []}
            rowKey={({ operation, block }) => `${operation} ${block}`}
            columns={[
              {
                title: text('rights.operation'),
                cell: ({ operation, block }) => [nameOf(operation, text), block].filter(Boolean).join(' '),
              },
              ...groups.map((title, at) => ({
                title,
                cell: ({ cells }: { cells: Extent[] }) => {
                  const extent = cells[at] ?? 'none';
                  return <span title={text(`rights.${extent}`)}>{`${signs[extent]} ${text(`rights.${extent}`)}`}</span>;
                },
              })),
            ]}
          />
        </Box>
      </Section>
    </Flex>
  );
}

interface QuestionProps {
  app: AppDetail;
  groups: string[];
  types: string[];
}

function Question({ app, groups, types }: QuestionProps) {
  const text = useText();
  const [who, setWho] = useState('anonymous');
  const [user, setUser] = useState('');
  const [operation, setOperation] = useState<WhyQuery['operation']>('view');
  const [block, setBlock] = useState('');
  const [record, setRecord] = useState('');
  const [type, setType] = useState('');
  const isContent = (contentOperations as readonly string[]).includes(operation) && type !== '';
  const operations: WhyQuery['operation'][] = type === '' ? [...recordOperations, 'show'] : [...contentOperations];
  const query: WhyQuery = {
    site: app.site,
    who: who === 'user' ? `user:${user}` : who,
    operation,
    ...(isContent ? { type } : { app: app.id }),
    ...(!isContent && block && { block }),
    ...(!isContent && record && { record }),
  };
  const choose = (chosen: string) => {
    setType(chosen === 'records' ? '' : chosen);
    setOperation(chosen === 'records' ? 'view' : 'findMany');
  };
  return (
    <Section title={text('rights.question')}>
      <Flex gap={4} wrap="wrap" alignItems="flex-start">
        <Choice
          label={text('run.requester')}
          value={who}
          onChange={setWho}
          choices={[
            ['anonymous', text('creator.anonymous')],
            ['user', text('rights.who.user')],
            ...groups.map((name): Named => [`group:${name}`, name]),
          ]}
        />
        {who === 'user' && <TextField label={text('rights.user')} value={user} onChange={setUser} />}
        <Choice
          label={text('rights.about')}
          value={type || 'records'}
          onChange={choose}
          choices={[['records', text('records')], ...types.map((uid): Named => [uid, uid])]}
        />
        <Choice
          label={text('rights.operation')}
          value={operation}
          onChange={(chosen) => setOperation(chosen as WhyQuery['operation'])}
          choices={operations.map((one): Named => [one, type === '' ? nameOf(one, text) : one])}
        />
        {!isContent && (
          <>
            <TextField label={text('block')} value={block} onChange={setBlock} />
            <TextField label={text('record')} value={record} onChange={setRecord} />
          </>
        )}
      </Flex>
      <Answer query={query} />
    </Section>
  );
}

function Answer({ query }: { query: WhyQuery }) {
  const text = useText();
  const textOf = useErrorText();
  const asked = useDebouncedValue(query);
  const isWhole = asked && asked.who !== 'user:' && (asked.operation !== 'show' || Boolean(asked.block));
  const { currentData: why, error } = useAppsWhyQuery(asked ?? query, { skip: !isWhole });
  return (
    <Flex direction="column" alignItems="stretch" gap={3} paddingTop={4} role="status">
      {error && <Typography textColor="danger600">{textOf(error)}</Typography>}
      {why && (
        <>
          <Typography variant="beta" tag="p" textColor={why.allowed ? 'success600' : 'danger600'}>
            {why.allowed ? text('rights.allowed') : text('rights.refused', { status: why.status })}
          </Typography>
          {why.steps.map((step) => (
            <Step key={`${step.about} ${step.block}`} step={step} />
          ))}
        </>
      )}
    </Flex>
  );
}

function Step({ step }: { step: WhyStep }) {
  const text = useText();
  return (
    <Box>
      <Typography tag="p">
        {text(step.allowed ? 'rights.by' : 'rights.needs', {
          what: [text(`rights.about.${step.about}`), step.block].filter(Boolean).join(' '),
        })}
      </Typography>
      {step.message && <Typography textColor={step.allowed ? 'neutral700' : 'danger600'}>{step.message}</Typography>}
      {step.grounds.map((ground) => (
        <GroundNote key={`${ground.kind} ${ground.list} ${ground.permission}`} ground={ground} />
      ))}
    </Box>
  );
}

function GroundNote({ ground: { kind, position, list, name, permission } }: { ground: Ground }) {
  const text = useText();
  const message = [text(`rights.ground.${kind}`), permission, list, name].filter(Boolean).join(' · ');
  if (position) return <ProblemNote problem={{ ...position, message }} tone="neutral700" />;
  return (
    <Typography tag="p" textColor="neutral700">
      {message}
    </Typography>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onChange(value: string): void;
}

function TextField({ label, value, onChange }: FieldProps) {
  return (
    <Field.Root name={label}>
      <Field.Label>{label}</Field.Label>
      <Field.Input value={value} onChange={({ target }) => onChange(target.value)} maxLength={200} />
    </Field.Root>
  );
}

function Choice({ label, value, onChange, choices }: FieldProps & { choices: Named[] }) {
  return (
    <Field.Root name={label}>
      <Field.Label>{label}</Field.Label>
      <SingleSelect value={value} onChange={(chosen) => onChange(String(chosen))}>
        {choices.map(([one, name]) => (
          <SingleSelectOption key={one} value={one}>
            {name}
          </SingleSelectOption>
        ))}
      </SingleSelect>
    </Field.Root>
  );
}
