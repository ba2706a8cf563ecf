const SERVICE = 'http://127.0.0.1:13371/codes';

/**
 * The town of a postal code, by a web service; null if there is no such code, an empty text while the service does not answer.
 * @param {import('strapi-plugin-apps/context').Context} context
 * @param {string} code
 * @returns {string | null}
 */
export function townOf({ fetch }, code) {
  try {
    const { ok, status, json } = fetch(`${SERVICE}/${encodeURIComponent(code)}`, { timeout: 2000 });
    if (ok) return String(/** @type {{ town: string }} */ (json).town);
    if (status === 404) return null;
    console.warn(`The service of postal codes answers ${status}`);
  } catch (error) {
    console.warn(error);
  }
  return '';
}
