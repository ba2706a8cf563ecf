import { tmpdir } from 'node:os';
import path from 'node:path';

/** Settings of a host besides its environment. */
export interface Configuration {
  /** Over the plugin's part of config/plugins. */
  apps?: object;
  /** Instead of Strapi's upload plugin's part of config/plugins. */
  upload?: object;
  /** Strapi's own CORS settings instead of the project's. */
  usualCors?: boolean;
  /** Of Strapi's own headers, instead of its default. */
  referrerPolicy?: string;
  /** Milliseconds by which the host's clock is ahead. */
  clockAhead?: number;
  /** Singular names of the content types that are localized; without it those of the host are. */
  localized?: string[];
  /** Seconds for which a token of a user or an administrator is valid, instead of Strapi's 10 or 30 minutes. */
  sessionTime?: number;
  /** The folder of the plugin's package, for example of an earlier release; such a host has a process of its own. */
  plugin?: string;
}

/**
 * The folder of a host whose clock is ahead: when a host starts, it deletes uploads that are too old by its clock, and
 * all hosts share the project's folder.
 */
const ownFolder = (clockAhead: number) => ({
  temporaryDirectory: path.join(tmpdir(), `apps-ahead-${clockAhead}`),
});

/** NODE_OPTIONS of a host with a configuration. */
export const configuration = `--require ${path.join(__dirname, 'configure.cjs')}`;

/** The environment of a host with this configuration, which configure.cjs reads in the host's process. */
export function configured({
  apps,
  upload,
  usualCors,
  referrerPolicy,
  clockAhead,
  localized,
  sessionTime,
  plugin,
}: Configuration): Record<string, string> {
  const config = clockAhead ? { ...ownFolder(clockAhead), ...apps } : apps;
  return {
    NODE_OPTIONS: configuration,
    ...(config && { TEST_APPS_CONFIG: JSON.stringify(config) }),
    ...(upload && { TEST_UPLOAD: JSON.stringify(upload) }),
    ...(usualCors && { TEST_USUAL_CORS: 'true' }),
    ...(referrerPolicy && { TEST_REFERRER_POLICY: referrerPolicy }),
    ...(clockAhead && { TEST_CLOCK_AHEAD: String(clockAhead) }),
    ...(localized && { TEST_LOCALIZED: localized.join() }),
    ...(sessionTime && { TEST_SESSION_TIME: String(sessionTime) }),
    ...(plugin && { TEST_PLUGIN: plugin }),
  };
}
