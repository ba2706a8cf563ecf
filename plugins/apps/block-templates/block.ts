import type { Context } from 'strapi-plugin-apps/context';

/** The element `greeting`: HTML that replaces it, so what a visitor has entered is escaped. */
export function greeting(context: Context): string {
  const name = String(context.request.get('name', '')).trim();
  return name === '' ? 'What is your name?' : `Hello, ${context.escape(name)}!`;
}

/** The button sends the form, and the greeting reads it. */
export function greet(): void {}
