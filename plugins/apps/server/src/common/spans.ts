/** What a span is about: names of the site's apps, blocks and functions, numbers, no text of visitors. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Names of spans (docs/operate/monitoring.md#traces). */
export type SpanName = 'request' | 'run' | 'host call' | 'query' | 'commit' | 'job';

/** What is known of a span when its work has ended without an error. */
export interface SpanOutcome {
  attributes: SpanAttributes;
  isError: boolean;
}

/** Makes spans. */
export interface Tracer {
  /** Runs work as a span, within the one that is current. */
  span<T>(
    name: SpanName,
    attributes: SpanAttributes,
    work: () => PromiseLike<T>,
    outcome?: () => SpanOutcome,
  ): Promise<T>;
  /** Runs work within the span that is current now. */
  bind(): Within;
}

/** Runs work within a span. */
export type Within = <T>(work: () => T) => T;

/** Of this process: a host has one tracer, and parts that know no services make spans. */
let tracer: Tracer | null = null;

/** @param next null: no spans are made */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/**
 * Runs work, as a span where the host traces. Without a tracer it costs one comparison.
 * @param outcome called when the work has ended without an error
 */
export function spanned<T>(
  name: SpanName,
  attributes: () => SpanAttributes,
  work: () => Promise<T>,
  outcome?: () => SpanOutcome,
): Promise<T>;
export function spanned<T>(
  name: SpanName,
  attributes: () => SpanAttributes,
  work: () => PromiseLike<T>,
): PromiseLike<T>;
export function spanned<T>(
  name: SpanName,
  attributes: () => SpanAttributes,
  work: () => PromiseLike<T>,
  outcome?: () => SpanOutcome,
): PromiseLike<T> {
  return tracer === null ? work() : tracer.span(name, attributes(), work, outcome);
}

const anywhere: Within = (work) => work();

/** For work that is asked for by another process, such as host calls: it belongs to the span that is current now. */
export function withinSpan(): Within {
  return tracer === null ? anywhere : tracer.bind();
}
