import { Button, Dialog, Flex, Typography } from '@strapi/design-system';
import { ConfirmDialog } from '@strapi/strapi/admin';
import { useState } from 'react';
import type { ErasedPerson, FoundPerson, PersonEntry, PersonGroup } from '../../../../shared/admin-api';
import { useAction } from '../../api/base';
import { useAppsErasePersonMutation, usePersonExport } from '../../api/persons';
import { DataTable } from '../../components/DataTable';
import { Section } from '../../components/page';
import { useText } from '../../plugin';

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
  const [erase, { isLoading }] = useAppsErasePersonMutation();
  const [failed, setFailed] = useState<ErasedPerson['failed']>([]);
  const confirm = () =>
    act(async () => {
      for (;;) {
        const part = await erase({ who }).unwrap();
        setFailed(part.failed);
        if (part.done) break;
      }
      onErased();
    }, text('persons.erased'));
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
