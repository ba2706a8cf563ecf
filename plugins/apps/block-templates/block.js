/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** The element `greeting`: HTML that replaces it, so what a visitor has entered is escaped. @param {Context} context */
export function greeting(context) {
  const name = String(context.request.get('name', '')).trim();
  return name === '' ? 'What is your name?' : `Hello, ${context.escape(name)}!`;
}

/** The button sends the form, and the greeting reads it. */
export function greet() {}
