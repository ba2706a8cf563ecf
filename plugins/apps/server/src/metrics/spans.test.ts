import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, test } from 'vitest';
import { openTelemetry } from './spans';

const exporter = new InMemorySpanExporter();

/** Registers a provider as a host does. */
function provide(sampler?: Sampler) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) }));
}

afterEach(() => {
  trace.disable();
  context.disable();
  exporter.reset();
});

const finished = () => exporter.getFinishedSpans().filter(({ name }) => name !== 'apps start');

test('the API without a provider makes no tracer', () => {
  expect(openTelemetry(process.cwd())).toBeNull();
});

test('a provider whose sampler leaves out the first spans is one', async () => {
  let rest = 1;
  const off = new AlwaysOffSampler();
  const on = { decision: 2 };
  provide({ shouldSample: () => (rest-- > 0 ? off.shouldSample() : on), toString: () => 'later' });
  const tracer = openTelemetry(process.cwd());
  expect(await tracer?.span('run', { app: 'like' }, async () => 'done')).toBe('done');
  expect(finished().map(({ name, attributes }) => [name, attributes])).toEqual([['apps run', { 'apps.app': 'like' }]]);
});

test('a span is below the one around it, and one that is bound below that of its beginning', async () => {
  provide();
  const tracer = openTelemetry(process.cwd());
  let call: (() => Promise<unknown>) | undefined;
  await tracer?.span('request', {}, async () => {
    await tracer.span('run', {}, async () => {
      const within = tracer.bind();
      call = () => within(() => tracer.span('host call', {}, async () => null));
    });
  });
  await call?.();
  const all = finished();
  const parentOf = (name: string) => {
    const parent = all.find((span) => span.name === name)?.parentSpanContext?.spanId;
    return all.find((span) => span.spanContext().spanId === parent)?.name;
  };
  expect([parentOf('apps request'), parentOf('apps run'), parentOf('apps host call')]).toEqual([
    ...[undefined, 'apps request', 'apps run'],
  ]);
});

test.each([
  ['an answer', { status: 404 }, false, 0],
  ['an answer that is an error of the server', { status: 503 }, true, 2],
])('%s is noted at the end', async (_title, attributes, isError, code) => {
  provide();
  await openTelemetry(process.cwd())?.span(
    'request',
    {},
    async () => null,
    () => ({ attributes, isError }),
  );
  expect(finished()[0]).toMatchObject({ attributes: { 'apps.status': attributes.status }, status: { code } });
});

test('an error ends its span with its name, without its message', async () => {
  provide();
  const failing = openTelemetry(process.cwd())?.span('query', {}, async () => {
    throw new TypeError('text of a visitor');
  });
  await expect(failing).rejects.toThrow('text of a visitor');
  const [span] = finished();
  expect(span).toMatchObject({ attributes: { 'error.type': 'TypeError' }, status: { code: 2 } });
  expect(JSON.stringify([span?.attributes, span?.status, span?.events])).not.toContain('visitor');
});
