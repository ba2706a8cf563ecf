import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../scripts/server-process.mjs';
import { repository } from '../../support/theme';

const PORT = 9300;

/** What the readers of webhook-in.md and webhook-out.md have in their environment. */
export const webhookSecrets = {
  GITHUB_SECRET: 'it is a secret',
  REQUESTS_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
};

const port = await freePort();

/** A file of a recipe, for a receiver at a port that is free here. */
export const withFreePort = (text: string): string => text.replaceAll(String(PORT), String(port));

/** The configuration that both recipes show, under `fetch`. */
export const webhookCalls = {
  hosts: { requests: [`127.0.0.1:${port}`] },
  private: [`127.0.0.1:${port}`],
  secrets: {
    github: { value: webhookSecrets.GITHUB_SECRET, hosts: [] },
    requests: { value: webhookSecrets.REQUESTS_SECRET, hosts: [] },
  },
};

/** The program of webhook-out.md, which runs while the commands of the pages are typed. */
export function webhookReceiver(at: (page: string, file: string) => string): void {
  let receiver: ChildProcess;
  let printed = '';
  beforeAll(() => {
    const env = { ...process.env, ...webhookSecrets, NODE_PATH: path.join(repository, 'node_modules') };
    receiver = spawn(process.execPath, [at('webhook-out.md', 'receiver.js')], { env });
    receiver.stdout?.on('data', (text) => {
      printed += text;
    });
  });
  afterAll(() => void receiver.kill());

  test('the receiver of webhook-out.md prints urgent requests, and no others', async () => {
    await expect.poll(() => printed, { timeout: 30_000 }).toBe('A lamp, in 1 days\n');
  });
}
