/** @import { OnDisplay } from 'strapi-plugin-apps/context' */

/**
 * All registrations by their state, the first one first.
 * @type {OnDisplay}
 */
export function on_display(context) {
  const all = context.app.search('', { block: 'register', limit: 1000 });
  const groups = ['place', 'waiting', 'unconfirmed'].map((state) => ({
    state,
    guests: all
      .filter((one) => one.get('_state', 'place') === state)
      .map(({ name, email, url }) => ({ name, email, url })),
  }));
  context.groups = groups.filter(({ guests }) => guests.length > 0);
}
