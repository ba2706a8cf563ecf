import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import middlewares from '../config/middlewares';

const root = path.resolve(__dirname, '..');
const read = (...names: string[]) => readFileSync(path.join(root, ...names), 'utf8');
const access = read('docs', 'operate', 'access.md');
const configuration = read('docs', 'reference', 'configuration.md');

/** Names of the environment variables that the host reads; `env.int('PORT', …)` too. */
function variablesOf(text: string): string[] {
  return [...text.matchAll(/\benv(?:\.\w+)?\('([A-Z_]+)'/g)].map(([, name]) => name as string);
}

/** The argument that Strapi passes to a file of `config/`, for the given environment. */
function envOf(values: Record<string, string>) {
  const env = (name: string, otherwise?: unknown) => values[name] ?? otherwise;
  return Object.assign(env, {
    int: (name: string, otherwise: number) => Number(values[name] ?? otherwise),
    array: (name: string, otherwise: string[]) => values[name]?.split(',').map((one) => one.trim()) ?? otherwise,
  }) as never;
}

interface Cors {
  origin: string[];
  credentials: boolean;
  headers: string[];
  expose: string[];
}

function corsOf(values: Record<string, string>): Cors {
  const found = middlewares({ env: envOf(values) }).find(
    (one) => typeof one === 'object' && 'name' in one && one.name === 'strapi::cors',
  );
  return (found as { config: Cors }).config;
}

describe('the host and its documentation agree', () => {
  const files = readdirSync(path.join(root, 'config'));
  const variables = files
    .flatMap((file) => variablesOf(read('config', file)))
    .filter((name) => name.startsWith('APPS_'));
  test.each([...new Set(variables)])('%s is documented', (name) => {
    expect(configuration).toMatch(new RegExp(`^\\| \`${name}\` \\|`, 'm'));
  });

  test.each(['headers', 'expose'] as const)('CORS: %s', (key) => {
    const names = corsOf({})[key].map((name) => `'${name}'`);
    expect(access).toContain(`${key}: [${names.join(', ')}]`);
  });

  test('CORS: the origins are a fixed list, and cookies do not pass', () => {
    const local = ['http://localhost:1337', 'http://127.0.0.1:1337', 'http://[::1]:1337'];
    expect(corsOf({})).toMatchObject({ origin: local, credentials: false });
    expect(corsOf({ PUBLIC_URL: '/below', PORT: '80' }).origin[0]).toBe('http://localhost');
    const given = {
      PUBLIC_URL: 'https://cms.example/below',
      APPS_CORS_ORIGINS: 'https://a.example, https://b.example',
    };
    expect(corsOf(given).origin).toEqual(['https://cms.example', 'https://a.example', 'https://b.example']);
  });
});
