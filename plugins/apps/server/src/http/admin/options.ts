import { z } from 'zod';
import type { AppOptions, optionRoutes } from '../../../../shared/admin-api';
import { type Items, isItems } from '../../../../shared/json';
import type { App } from '../../apps';
import { must, readBody } from '../../common/request-schema';
import { jsonObject } from '../request/body';
import { appOf, type Handlers } from './handler';

/** Characters of the options of an app, as JSON. */
const MAX_OPTIONS = 100_000;

const optionsBody = z.object({
  options: z
    .custom<Items | null>((value) => value === null || isItems(value), must('an object, or null'))
    .refine(
      (value) => (JSON.stringify(value) ?? '').length <= MAX_OPTIONS,
      must(`at most ${MAX_OPTIONS} characters of JSON`),
    ),
});

/** What the admin routes of an app's options answer (shared/admin/options.ts). */
export const optionHandlers: Handlers<typeof optionRoutes> = {
  async setOptions(ctx, services): Promise<AppOptions> {
    const { site, app } = await appOf(ctx, services);
    const { options } = readBody(optionsBody, jsonObject(ctx));
    await services.sites.setOptions(site.id, app.id, options);
    return optionsOf((await appOf(ctx, services)).app);
  },
};

/** The options of an app: its file's, those of an administrator, and both merged. */
export function optionsOf({ settings, folder }: App): AppOptions {
  const file = (settings.source.options ?? {}) as Items;
  const override = folder.options ? (JSON.parse(folder.options) as Items) : null;
  return { file, override, merged: settings.options };
}
