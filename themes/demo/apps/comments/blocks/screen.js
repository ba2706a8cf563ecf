/** @import { OnDisplay } from 'strapi-plugin-apps/context' */

/**
 * Asks the other program what the webhook `screen` (settings.yaml) has told it; null while it does not answer.
 * @type {OnDisplay}
 */
export function on_display(context) {
  context.screen = null;
  try {
    const { ok, json } = context.fetch('http://127.0.0.1:13371/screen', { timeout: 2000 });
    if (ok) context.screen = json;
  } catch (error) {
    console.warn(error);
  }
}
