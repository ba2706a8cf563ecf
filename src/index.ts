import type { Core } from '@strapi/strapi';
import { startDemo } from './demo';

export default {
  register() {},

  async bootstrap({ strapi }: { strapi: Core.Strapi }) {
    await startDemo(strapi);
  },
};
