import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

const loaded = new Set<string>();

/** Reads the host's `.env`, as Strapi does: variables that are set already stay. */
export function loadEnvironment(root: string): void {
  if (loaded.has(root)) return;
  loaded.add(root);
  try {
    const text = readFileSync(process.env.ENV_PATH ?? join(root, '.env'), 'utf8');
    // Node.js before 20.12 has no parser; Strapi then reads the file when it starts.
    for (const [name, value] of Object.entries(parseEnv?.(text) ?? {})) process.env[name] ??= value;
  } catch {
    // There is no such file.
  }
}
