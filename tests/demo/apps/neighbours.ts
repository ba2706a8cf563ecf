import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../scripts/server-process.mjs';
import type { Host } from '../../support/host';
import { repository } from '../../support/theme';
import { visitor } from './visitor';

/** The demo's themes and configuration with another port for the programs that they speak with. */
export interface Neighbours {
  /** `http://127.0.0.1:41234` */
  readonly origin: string;
  readonly themes: string;
  readonly fetch: object;
}

/** The files of the demo that name the programs. */
const files = ['comments/settings.yaml', 'comments/blocks/screen.js', 'delivery/lib/towns.js'];

export function useNeighbours(): Neighbours {
  let [host, themes] = ['', ''];
  beforeAll(async () => {
    host = `127.0.0.1:${await freePort()}`;
    themes = await mkdtemp(path.join(tmpdir(), 'apps-demo-'));
    await cp(path.join(repository, 'themes'), themes, { recursive: true });
    for (const name of files) {
      const file = path.join(themes, 'demo', 'apps', name);
      await writeFile(file, (await readFile(file, 'utf8')).replace('127.0.0.1:13371', host));
    }
  });
  afterAll(() => rm(themes, { recursive: true, force: true }));
  return {
    get origin() {
      return `http://${host}`;
    },
    get themes() {
      return themes;
    },
    get fetch() {
      return {
        hosts: { comments: [host], delivery: [host] },
        private: [host],
        secrets: { screen: { value: `whsec_${Buffer.from('a secret of the tests').toString('base64')}`, hosts: [] } },
      };
    },
  };
}

export function screen(host: Host, neighbours: Neighbours): void {
  describe('the screen in the staff room', () => {
    const shown = async () => (await visitor(host, 'comments', 'eric').open('blocks/screen')).text;

    test('shows a new comment, whose signature it has checked', async () => {
      const comments = visitor(host, 'comments', 'sam', '/articles/welcome');
      await comments.submit('blocks/comment', { text: 'A comment for the screen', _save: '1' });
      await expect.poll(shown, { timeout: 10_000 }).toContain('A comment for the screen');
      expect(await shown()).toMatch(/<strong>sam<\/strong>[\s\S]*\/articles\/welcome · [\s\S]*signature verified/);
      expect(await shown()).toContain('No message was refused.');
    });

    test('a message with a wrong signature, an old one and one without are refused', async () => {
      const now = Math.floor(Date.now() / 1000);
      for (const headers of [
        {},
        { 'webhook-id': 'a', 'webhook-timestamp': String(now), 'webhook-signature': 'v1,d3Jvbmc=' },
        { 'webhook-id': 'a', 'webhook-timestamp': String(now - 400), 'webhook-signature': 'v1,d3Jvbmc=' },
      ] as Record<string, string>[]) {
        const answer = await fetch(`${neighbours.origin}/screen`, { method: 'POST', headers, body: '{}' });
        expect(answer.status).toBe(401);
      }
      expect(await shown()).toContain('3 messages were refused');
    });

    test.each([
      [null, 401],
      ['sam', 403],
    ])('for %s it is %i', async (name, status) => {
      expect((await visitor(host, 'comments', name).open('blocks/screen')).status).toBe(status);
    });
  });
}
