import { Button, Dialog, Field, Flex, Link, Typography } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { ConfirmDialog, Layouts, Page, useNotification } from '@strapi/strapi/admin';
import { type FormEvent, useState } from 'react';
import { NavLink } from 'react-router-dom';
import type { ErasedPerson, FoundPerson, PersonEntry, PersonGroup } from '../../../shared/admin-api';
import { useAction, useErrorText } from '../api/base';
import { useAppsErasePersonMutation, useAppsFindPersonMutation, usePersonExport } from '../api/persons';
import { DataTable } from '../components/DataTable';
import { Section } from '../components/page';
import { useMay } from '../permissions';
import { pluginId, useText } from '../plugin';

interface PersonProps {
  /** As it was asked for. */
  who: string;
  person: FoundPerson;
  onErased(): void;
}

/** What is stored of one person, by app and kind, and what erasing does to each. */
export function Person({ who, person, onErased }: PersonProps) {
  const text = useText();
  const save = usePersonExport();
  const [isSaving, setSaving] = useState(false);
  const download = async () => {
    setSaving(true);
    await save(who);
    setSaving(false);
  };
  const name = [person.address, person.user?.name].filter(Boolean).join(', ');
  return (
    <Section title={name}>
      <Flex direction="column" alignItems="stretch" gap={4}>
        {person.user && <Typography textColor="neutral600">{text('persons.user')}</Typography>}
        <Groups label={text('persons.found')} groups={person.groups} />
        {person.groups.length > 0 && (
          <Flex gap={2}>
            <Button variant="secondary" loading={isSaving} onClick={() => void download()}>
              {text('persons.export')}
            </Button>
            <Erase who={who} name={name} person={person} onErased={onErased} />
          </Flex>
        )}
        <Entries person={person} />
      </Flex>
    </Section>
  );
}

const whereOf = ({ site, app }: Pick<PersonGroup, 'site' | 'app'>) => [site, app].filter(Boolean).join(' / ');

function Groups({ label, groups }: { label: string; groups: PersonGroup[] }) {
  const text = useText();
  return (
    <DataTable
      label={label}
      empty={text('persons.none')}
      rows={groups}
      rowKey={({ kind, site, app, does }) => [kind, site, app, does].join('\n')}
      columns={[
        { title: text('persons.kind'), cell: ({ kind }) => text(`persons.kind.${kind}`) },
        { title: text('persons.where'), cell: whereOf },
        { title: text('persons.count'), cell: ({ count }) => count },
        { title: text('persons.does'), cell: ({ does }) => text(`persons.does.${does}`) },
      ]}
    />
  );
}

/** The first entries, with the items that go. */
function Entries({ person: { entries } }: { person: FoundPerson }) {
  const text = useText();
  const doesOf = ({ does, items }: PersonEntry) =>
    [text(`persons.does.${does}`), items.join(', ')].filter(Boolean).join(': ');
  if (entries.length === 0) return null;
  return (
    <DataTable
      label={text('persons.entries')}
      empty=""
      rows={entries.map((entry, at) => ({ ...entry, at: entry.at, key: String(at) }))}
      rowKey={({ key }) => key}
      columns={[
        { title: text('persons.kind'), cell: ({ kind }) => text(`persons.kind.${kind}`) },
        { title: text('persons.where'), cell: whereOf },
        { title: text('persons.entry'), cell: ({ id }) => id },
        { title: text('run.at'), cell: ({ at }) => (at ? new Date(at).toLocaleString() : '') },
        { title: text('persons.does'), cell: doesOf },
      ]}
    />
  );
}

/** Erases once what goes was shown and confirmed; a large erasure is several requests. */
function Erase({ who, name, person, onErased }: PersonProps & { name: string }) {
  const text = useText();
  const act = useAction();
  const { toggleNotification } = useNotification();
  const [erase, { isLoading }] = useAppsErasePersonMutation();
  const [failed, setFailed] = useState<ErasedPerson['failed']>([]);
  const confirm = () =>
    act(async () => {
      for (;;) {
        const part = await erase({ who }).unwrap();
        setFailed(part.failed);
        if (!part.done) continue;
        if (part.failed.length === 0) toggleNotification({ type: 'success', message: text('persons.erased') });
        break;
      }
      onErased();
    });
  return (
    <>
      <Dialog.Root>
        <Dialog.Trigger>
          <Button variant="danger-light" loading={isLoading}>
            {text('persons.erase')}
          </Button>
        </Dialog.Trigger>
        <ConfirmDialog onConfirm={() => void confirm()}>
          <Flex direction="column" alignItems="stretch" gap={2}>
            <Typography>{text('persons.erase.confirm', { name })}</Typography>
            <ul>
              {person.groups.map((group) => (
                <li key={[group.kind, group.site, group.app, group.does].join('\n')}>
                  <Typography>
                    {[`${group.count} ${text(`persons.kind.${group.kind}`)}`, whereOf(group)]
                      .filter(Boolean)
                      .join(', ')}
                    {': '}
                    {text(`persons.does.${group.does}`)}
                  </Typography>
                </li>
              ))}
            </ul>
          </Flex>
        </ConfirmDialog>
      </Dialog.Root>
      {failed.length > 0 && (
        <Typography role="alert" textColor="danger600">
          {failed.map(({ id, message }) => `${id}: ${message}`).join(' · ')}
        </Typography>
      )}
    </>
  );
}

/** Characters of an address, or of a user's name. */
const MAX_WHO = 320;

/** Everything that is stored of a person: found, exported, erased. */
export default function PersonsPage() {
  const text = useText();
  return useMay()(['persons']) ? (
    <Page.Main>
      <Page.Title>{text('persons')}</Page.Title>
      <Layouts.Header
        title={text('persons')}
        subtitle={text('persons.subtitle')}
        navigationAction={
          <Link tag={NavLink} to={`/plugins/${pluginId}`} startIcon={<ArrowLeft />}>
            {text('back')}
          </Link>
        }
      />
      <Layouts.Content>
        <Persons />
      </Layouts.Content>
    </Page.Main>
  ) : (
    <Page.NoPermissions />
  );
}

function Persons() {
  const text = useText();
  const textOf = useErrorText();
  const [who, setWho] = useState('');
  const [found, setFound] = useState<{ who: string; person: FoundPerson } | null>(null);
  const [find, { error, isLoading }] = useAppsFindPersonMutation();
  const look = async (asked: string) => {
    const answer = await find({ who: asked });
    setFound('data' in answer && answer.data ? { who: asked, person: answer.data } : null);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (who.trim()) void look(who.trim());
  };
  return (
    <Flex direction="column" alignItems="stretch" gap={6}>
      <form onSubmit={submit} autoComplete="off">
        <Flex gap={4} alignItems="flex-end" wrap="wrap">
          <Field.Root name="who">
            <Field.Label>{text('persons.who')}</Field.Label>
            <Field.Input value={who} maxLength={MAX_WHO} onChange={({ target }) => setWho(target.value)} />
          </Field.Root>
          <Button type="submit" loading={isLoading}>
            {text('persons.find')}
          </Button>
        </Flex>
      </form>
      {error !== undefined && (
        <Typography role="alert" textColor="danger600">
          {textOf(error)}
        </Typography>
      )}
      {found && <Person key={found.who} who={found.who} person={found.person} onErased={() => void look(found.who)} />}
    </Flex>
  );
}
