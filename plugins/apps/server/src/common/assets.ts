import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';

/** A text that differs when the content does: an address with it may be cached for ever (docs/decisions/asset-addresses.md). */
export const contentVersion = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 22);

/** Content codings of the plugin's own files, the preferred one first. */
export const codings = ['br', 'gzip', 'identity'] as const;
type Coding = (typeof codings)[number];

const compressed: Record<Coding, (bytes: Buffer) => Promise<Buffer>> = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
  identity: async (bytes) => bytes,
};

/** One of the plugin's own public files. */
export interface OwnFile {
  version: string;
  /** Its bytes in a coding, compressed at most once. */
  bytes(coding: Coding): Promise<Buffer>;
}

function ownFile(text: string, version: string): OwnFile {
  const made = new Map<Coding, Promise<Buffer>>();
  const bytes = (coding: Coding) => {
    const known = made.get(coding) ?? compressed[coding](Buffer.from(text));
    made.set(coding, known);
    return known;
  };
  return { version, bytes };
}

/** Files that are kept: one for each wording of the script, which sites of one language share. */
const MAX_KEPT = 50;

/** The plugin's own public files. */
export type PluginFiles = ReturnType<typeof createOwnFiles>;

/**
 * Keeps the plugin's own public files in memory.
 * @param folder absolute path of the folder with the browser script and the style sheet
 * @param production files are read once, else for each request
 */
export function createOwnFiles(folder: string, production: boolean) {
  const kept = new LRUCache<string, OwnFile>({ max: MAX_KEPT });

  async function file(name: string, words: { [name: string]: string }): Promise<OwnFile> {
    const key = `${name} ${JSON.stringify(words)}`;
    const known = kept.get(key);
    if (known && production) return known;
    const text = withWords(await readFile(join(folder, name), 'utf8'), words);
    const version = contentVersion(text);
    const found = known?.version === version ? known : ownFile(text, version);
    kept.set(key, found);
    return found;
  }

  return {
    file: (name: string) => file(name, {}),
    /** The browser script, which finds these words on its element (browser/src/home.ts). */
    script: (words: { [name: string]: string }) => file('apps.js', words),
  };
}

function withWords(text: string, words: { [name: string]: string }): string {
  if (Object.keys(words).length === 0) return text;
  // `<` could end the element of a script that somebody puts into a page.
  const json = JSON.stringify(words).replace(/</g, '\\u003c');
  return `Object.assign(document.currentScript??{},{appsWords:${json}});\n${text}`;
}
