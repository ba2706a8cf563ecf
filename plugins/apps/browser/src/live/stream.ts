/**
 * A moment by the clock of a server process, as the server writes it: `<process>.<milliseconds>`. Positions of different processes
 * differ by the difference of their clocks.
 */
export type Position = string;

/** Milliseconds by which clocks of server processes differ, and by which they know of each other's changes later. */
const MARGIN = 2_500;

const processOf = (position: Position): string => position.split('.')[0] ?? '';
const timeOf = (position: Position): number => Number(position.split('.')[1]);

/** Whether a position is surely not before another. */
export const isAfter = (position: Position, other: Position): boolean =>
  timeOf(position) >= timeOf(other) + (processOf(position) === processOf(other) ? 0 : MARGIN);

/** The first of some positions; of no process where they are of several. */
export function earliest(positions: readonly Position[]): Position | undefined {
  const [first] = positions;
  if (first === undefined) return undefined;
  const isSame = positions.every((one) => processOf(one) === processOf(first));
  return `${isSame ? processOf(first) : '--------'}.${Math.min(...positions.map(timeOf))}`;
}

/** Milliseconds after which a refused connection is tried again. */
const RETRY = 30_000;

/** Milliseconds without an event after which a connection is taken for lost: the server sends one every 25 seconds. */
const SILENCE = 60_000;

interface Handlers {
  /** The server waits for the tokens now. */
  opened(): void;
  /** It waits for them still. */
  alive(): void;
  changed(token: string, at: Position): void;
}

/** A connection to the server for some tokens. */
export interface Stream {
  readonly tokens: ReadonlySet<string>;
  /** Since when it was open, by the server and by `Date.now()`; undefined before, and while it is lost. */
  readonly opened: { position: Position; at: number } | undefined;
  /** Up to when all changes have come. */
  known(): Position | undefined;
  close(): void;
}

/**
 * Opens a connection; a browser that has lost it opens it again by itself, and says what it has seen. One that was lost unnoticed, as in
 * another network, is opened again here.
 */
export function openStream(url: URL, tokens: readonly string[], since: Position | undefined, on: Handlers): Stream {
  url.searchParams.set('t', tokens.join());
  if (since) url.searchParams.set('since', since);
  let source: EventSource | undefined;
  let timer: number | undefined;
  let opened: { position: Position; at: number } | undefined;
  let last: Position | undefined;

  const startIn = (milliseconds: number): void => {
    clearTimeout(timer);
    timer = window.setTimeout(start, milliseconds);
  };
  const start = (): void => {
    source?.close();
    opened = undefined;
    if (last) url.searchParams.set('since', last);
    source = new EventSource(url);
    startIn(SILENCE);
    source.onerror = () => {
      opened = undefined;
      // A browser does not connect again after a refusal: the server has too many connections, in all or of this client.
      if (source?.readyState === EventSource.CLOSED) startIn(RETRY);
    };
    source.addEventListener('alive', ({ lastEventId: id }) => {
      startIn(SILENCE);
      last = id;
      if (opened) return on.alive();
      opened = { position: id, at: Date.now() };
      on.opened();
    });
    source.addEventListener('change', ({ data, lastEventId: id }) => {
      startIn(SILENCE);
      // Without one, before the server has sent all that was missed.
      if (id) last = id;
      on.changed(data, id);
    });
  };

  start();
  return {
    tokens: new Set(tokens),
    get opened() {
      return opened;
    },
    known: () => last,
    close() {
      clearTimeout(timer);
      source?.close();
    },
  };
}
