import type { UserConfig } from 'vite';

/**
 * The development server of the admin panel watches all files of the host, and reloads every open panel when an `.html` file is
 * saved: what was entered in a form there would be lost. Themes are no part of the panel.
 */
const ignored = ['**/themes/**', '**/tests/**', '**/docs/**'];

export default (config: UserConfig): UserConfig => ({
  ...config,
  server: { ...config.server, watch: { ...config.server?.watch, ignored } },
});
