import { expect } from 'vitest';
import type { Answer } from './send';
import { send } from './send';

/** The session cookie of an answer as a `Cookie` header, or '' if it sets none. */
export function cookieOf(answer: Answer): string {
  return (answer.headers['set-cookie'] ?? []).map((cookie) => cookie.split(';')[0]).join('; ');
}

/** Value of a hidden field of a rendered form. */
export function hiddenField(html: string, name: string): string {
  const input = [...html.matchAll(/<input\b[^>]*>/g)].find(([tag]) => tag.includes(`name="${name}"`));
  return /value="([^"]*)"/.exec(input?.[0] ?? '')?.[1] ?? '';
}

/** Fills in the login page of a site as a person does, and sends it. */
export async function logIn(
  origin: string,
  user: { name: string; password: string },
  options: { next?: string; csrf?: string; cookie?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const query = options.next === undefined ? '' : `?next=${encodeURIComponent(options.next)}`;
  const headers: Record<string, string> = {
    accept: 'text/html',
    ...(options.cookie ? { cookie: options.cookie } : {}),
  };
  const page = await send(origin, { method: 'GET', path: `/site/@@login${query}`, headers });
  const cookie = [options.cookie, cookieOf(page)].filter(Boolean).join('; ');
  expect(page.status).toBe(200);
  const inputs = [...page.text.matchAll(/<input\b[^>]*>/g)].map(([tag]) => ({
    name: /name="([^"]*)"/.exec(tag)?.[1] ?? '',
    type: /type="([^"]*)"/.exec(tag)?.[1] ?? 'text',
    value: /value="([^"]*)"/.exec(tag)?.[1] ?? '',
  }));
  const form: Record<string, string> = {};
  for (const { name, type, value } of inputs) {
    form[name] = type === 'hidden' ? value : type === 'password' ? user.password : user.name;
  }
  if (options.csrf !== undefined) form._csrf = options.csrf;
  const action = /<form[^>]*action="([^"]*)"/.exec(page.text)?.[1] ?? '/site/@@login';
  return send(origin, {
    method: 'POST',
    path: new URL(action, origin).pathname,
    form,
    headers: { ...headers, cookie, ...options.headers },
  });
}
