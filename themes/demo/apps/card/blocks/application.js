/** @import { Element } from 'strapi-plugin-apps/context' */

/** @type {Element} */
export const name = ({ record }) => record?.get('name', '');
