import { createRequire } from 'node:module';
import type { Context, Span, SpanContext, SpanOptions, SpanStatusCode } from '@opentelemetry/api';
import type { SpanAttributes, Tracer } from '../common/spans';

/** The part of `@opentelemetry/api` that is used here. */
interface Api {
  trace: {
    getTracer(name: string): { startSpan(name: string, options?: SpanOptions): Span };
    setSpan(context: Context, span: Span): Context;
  };
  context: { active(): Context; with<T>(context: Context, work: () => T): T };
  isSpanContextValid(context: SpanContext): boolean;
  SpanStatusCode: typeof SpanStatusCode;
}

/** Beginning of the names of spans and attributes. */
const NAME = 'strapi-plugin-apps';

/** The API as the host has it; the plugin's own copy would find the same provider. */
function loadApi(root: string): Api | null {
  for (const from of [`${root}/package.json`, __filename]) {
    try {
      return createRequire(from)('@opentelemetry/api') as Api;
    } catch {
      // The host does not trace.
    }
  }
  return null;
}

/** Whether the host has a provider. The API alone makes spans without an id; those that a provider's sampler leaves out have one. */
function isProvided({ trace, isSpanContextValid }: Api): boolean {
  const probe = trace.getTracer(NAME).startSpan('apps start', { root: true });
  probe.end();
  return isSpanContextValid(probe.spanContext());
}

const named = (attributes: SpanAttributes): SpanAttributes =>
  Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`apps.${key}`, value]));

/**
 * A tracer by OpenTelemetry, where the host has its API and has registered a provider before it starts; null elsewhere: spans of the
 * API alone go nowhere, and would cost something.
 * @param root the host's folder
 */
export function openTelemetry(root: string): Tracer | null {
  const api = loadApi(root);
  if (!api || !isProvided(api)) return null;
  const { trace, context } = api;
  const tracer = trace.getTracer(NAME);
  return {
    async span(name, given, work, outcome) {
      const span = tracer.startSpan(`apps ${name}`, { attributes: named(given) });
      try {
        const value = await context.with(trace.setSpan(context.active(), span), work);
        if (outcome) {
          const { attributes, isError } = outcome();
          span.setAttributes(named(attributes));
          if (isError) span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        return value;
      } catch (error) {
        // Messages may have what a visitor has sent.
        span.setAttribute('error.type', error instanceof Error ? error.name : 'Error');
        span.setStatus({ code: api.SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    bind() {
      const active = context.active();
      return (work) => context.with(active, work);
    },
  };
}
