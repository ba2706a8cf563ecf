import { Box, Button, Field, Flex } from '@strapi/design-system';
import { type FormEvent, useEffect, useState } from 'react';
import type { PanelError } from '../../../../api/base';
import { Verbatim } from '../../../../components/Pre';
import { useText } from '../../../../plugin';
import type { Known } from './completion';
import { QueryInput } from './QueryInput';

interface Props {
  /** What the query can be about. */
  known: Known;
  query: string;
  /** Why the query could not be run. */
  error: string | null;
  failure: PanelError | undefined;
  /** The query that plain words were made into. */
  made: string | null;
  onSearch(query: string): void;
}

/** The position of a mistake in the query, from 1; null without one. */
const positionOf = (failure: PanelError | undefined): number | null => {
  const { position } = (failure?.details ?? {}) as { position?: unknown };
  return typeof position === 'number' ? position : null;
};

/** The search: a query of the query language, completed, with its mistake marked at its position, or plain words. */
export function SearchField({ known, query, error, failure, made, onSearch }: Props) {
  const text = useText();
  const [entered, setEntered] = useState(query);
  useEffect(() => setEntered(query), [query]);
  const search = (event: FormEvent) => {
    event.preventDefault();
    onSearch(entered.trim());
  };
  const position = positionOf(failure);
  return (
    <Flex tag="form" role="search" onSubmit={search} gap={2} alignItems="flex-start">
      <Field.Root
        hint={made ? text('search.made', { query: made }) : text('search.hint')}
        error={error ?? undefined}
        flex="1"
        minWidth="0"
      >
        <Field.Label>{text('search.label')}</Field.Label>
        <QueryInput known={known} value={entered} onChange={setEntered} />
        {error && position !== null && entered === query && (
          <Box background="neutral100" padding={2} hasRadius aria-hidden>
            <Verbatim>{`${query}\n${' '.repeat(Math.max(0, position - 1))}^`}</Verbatim>
          </Box>
        )}
        <Field.Hint />
        <Field.Error />
      </Field.Root>
      <Button type="submit" size="L" marginTop={5}>
        {text('search')}
      </Button>
    </Flex>
  );
}
