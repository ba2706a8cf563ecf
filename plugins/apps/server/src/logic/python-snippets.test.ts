import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json } from '../../../shared/json';
import { programOf, runOnce, useRuntime } from './testing/harness';

/** Made by tests/fixtures/python/make.py with CPython. */
const file = join(__dirname, '../../../../../tests/fixtures/python/snippets.json');
const snippets = JSON.parse(readFileSync(file, 'utf8')) as { code: string; answer: Json }[];

const runtime = useRuntime();

test('there are enough snippets', () => {
  expect(snippets.length).toBeGreaterThanOrEqual(80);
});

test.each(snippets.map(({ code, answer }) => [code, answer] as const))('CPython: %s', async (code, answer) => {
  const source = `def f(context):\n${code.replace(/^/gm, '    ')}`;
  const outcome = await runOnce(runtime, programOf({ 'blocks/test.py': source }, 'blocks/test.py'));
  expect(outcome.ok ? outcome.value : outcome.error.message).toEqual(answer);
});
