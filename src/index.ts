import type { Core } from '@strapi/strapi';
import { makeDemo } from './demo';

export default {
  register() {},

  async bootstrap({ strapi }: { strapi: Core.Strapi }) {
    await makeDemo(strapi);
  },
};
