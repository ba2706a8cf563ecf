import { Box, Button, Field, Flex, TextInput, Typography } from '@strapi/design-system';
import {
  type FormEvent,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { PanelError } from '../../../api/base';
import { Verbatim } from '../../../components/page';
import { useText } from '../../../plugin';
import { completionOf, type Known, type Suggestion, withSuggestion } from './query';

interface QueryInputProps {
  known: Known;
  value: string;
  onChange(value: string): void;
}

/**
 * The input of a query, with a list of what may stand at its cursor: a combobox of the ARIA patterns. Enter and Tab choose from
 * the list only after an arrow key has; before, they search and leave the input, as without the list.
 */
function QueryInput({ known, value, onChange }: QueryInputProps) {
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const { suggestions, active, look, close, move, take } = useCompletion(input, { known, value, onChange });
  const chosen = suggestions[active];
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) move(step);
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen) take(chosen);
    else if (event.key === 'Escape' && suggestions.length > 0) close();
    else return;
    event.preventDefault();
  };
  return (
    <Box position="relative">
      <TextInput
        ref={input}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={suggestions.length > 0}
        aria-controls={list}
        aria-activedescendant={chosen && `${list}-${active}`}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={value}
        onChange={({ target }: { target: HTMLInputElement }) => {
          onChange(target.value);
          look(target.selectionStart, true);
        }}
        onSelect={({ currentTarget }: { currentTarget: HTMLInputElement }) => look(currentTarget.selectionStart)}
        onKeyDown={press}
        onBlur={close}
      />
      {suggestions.length > 0 && <List id={list} suggestions={suggestions} active={active} onTake={take} />}
    </Box>
  );
}

/** What is suggested at the cursor, and which row of it is active: -1 for none. */
function useCompletion(input: RefObject<HTMLInputElement>, { known, value, onChange }: QueryInputProps) {
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [cursor, setCursor] = useState(0);
  const wanted = useRef<number | null>(null);
  const completion = completionOf(known, value, cursor);
  const suggestions = isOpen ? completion.suggestions : [];
  // A suggestion is in the input only after a rendering.
  useLayoutEffect(() => {
    if (wanted.current !== null) input.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = null;
  });
  const look = (at: number | null, opens = isOpen) => {
    setOpen(opens);
    if (at === cursor) return;
    setCursor(at ?? value.length);
    setActive(-1);
  };
  return {
    suggestions,
    active,
    look,
    close: () => setOpen(false),
    /** Makes the next row active, or the one before; between the last and the first none is. */
    move(step: number) {
      const rows = completion.suggestions.length + 1;
      setOpen(true);
      setActive((((isOpen ? active : -1) + 1 + step + rows) % rows) - 1);
    },
    take(suggestion: Suggestion) {
      const made = withSuggestion(value, completion, suggestion);
      onChange(made.query);
      wanted.current = made.cursor;
      look(made.cursor, true);
    },
  };
}

interface ListProps {
  id: string;
  suggestions: Suggestion[];
  active: number;
  onTake(suggestion: Suggestion): void;
}

function List({ id, suggestions, active, onTake }: ListProps) {
  const text = useText();
  const show = (row: HTMLElement | null) => row?.scrollIntoView({ block: 'nearest' });
  const detailOf = ({ detail, index }: Suggestion) => {
    const state = index?.state === 'building' && text('index.state.building');
    return [detail, index?.type, state].filter(Boolean).join(' · ');
  };
  return (
    <Box
      id={id}
      role="listbox"
      aria-label={text('search.suggestions')}
      position="absolute"
      width="100%"
      marginTop={1}
      padding={1}
      maxHeight="30rem"
      overflow="auto"
      zIndex={4}
      background="neutral0"
      borderColor="neutral150"
      shadow="filterShadow"
      hasRadius
      // The input keeps the focus.
      onMouseDown={(event: MouseEvent) => event.preventDefault()}
    >
      {suggestions.map((one, at) => (
        <Flex
          key={one.label}
          id={`${id}-${at}`}
          ref={at === active ? show : undefined}
          role="option"
          aria-selected={at === active}
          gap={3}
          padding={2}
          hasRadius
          cursor="pointer"
          background={at === active ? 'primary100' : undefined}
          onClick={() => onTake(one)}
        >
          <Typography textColor="neutral800">{one.label}</Typography>
          <Typography variant="pi" textColor="neutral600">
            {detailOf(one)}
          </Typography>
        </Flex>
      ))}
    </Box>
  );
}

interface SearchFieldProps {
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
export function SearchField({ known, query, error, failure, made, onSearch }: SearchFieldProps) {
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
