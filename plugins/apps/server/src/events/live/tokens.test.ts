import { expect, test } from 'vitest';
import { LiveReads } from '../../apps/live-topics';
import { createTokens } from './connections';

const reads = new LiveReads();
const asked = { query: "article == 'secret-one'", indexes: new Map(), isCount: false };
reads.observer.onRead?.({ site: 's', app: 'a' }, undefined, undefined, asked);
const topic = reads.list().live[0] as string;

const tokens = createTokens('secret');
const token = tokens.of(topic);

/** The same token with one character changed. */
const changedAt = (at: number) => `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;

test('every process with the secret can read the condition', () => {
  expect(createTokens('secret').condition(token)).toMatchObject({ query: asked.query });
  expect(createTokens('secret').of(topic)).toBe(token);
  expect(token).toMatch(/^[\w-]{60,400}$/);
});

test('nothing of it is readable', () => {
  const bytes = Buffer.from(token, 'base64url').toString('latin1');
  for (const part of ['article', 'secret-one', 'match']) expect(bytes).not.toContain(part);
});

test('other texts are no conditions', () => {
  for (let at = 0; at < token.length - 1; at += 1) expect(tokens.condition(changedAt(at)), String(at)).toBeNull();
  for (const text of ['', 'a', token.slice(0, -4), `${token}AAAA`, 'a'.repeat(5_000), tokens.of('["any","s","a"]')])
    expect(tokens.condition(text)).toBeNull();
  expect(createTokens('other').condition(token)).toBeNull();
});
