import { Button, Field, Flex, Link, Typography } from '@strapi/design-system';
import { ArrowLeft } from '@strapi/icons';
import { Layouts, Page } from '@strapi/strapi/admin';
import { type FormEvent, useState } from 'react';
import { NavLink } from 'react-router-dom';
import type { FoundPerson } from '../../../../shared/admin-api';
import { useErrorText } from '../../api/base';
import { useAppsFindPersonMutation } from '../../api/persons';
import { useMay } from '../../permissions';
import { pluginId, useText } from '../../plugin';
import { Person } from './Person';

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
      {found && <Person who={found.who} person={found.person} onErased={() => void look(found.who)} />}
    </Flex>
  );
}
