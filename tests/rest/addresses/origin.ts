import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';

export function configuredOrigin(stage: Stage): void {
  describe('addresses are made from the configured origin alone', () => {
    test.each(['host', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded'])('%s is ignored', async (header) => {
      const value =
        header === 'x-forwarded-proto' ? 'https' : header === 'forwarded' ? 'host=evil.example' : 'evil.example';
      const made = await stage.send<{ path: string }>({ send: 'POST open', json: {}, headers: { [header]: value } });
      expect(made.json.path).toMatch(new RegExp(`^${stage.host.url}/site/@@apps/open/record/\\d+$`));
      const page = await stage.send({ send: 'GET open/blocks/note', accept: html, headers: { [header]: value } });
      expect(page.text).toContain(`action="${stage.host.url}/site/@@apps/open/blocks/note"`);
      expect(page.text).not.toContain('evil.example');
    });

    test.each([
      ['another name', 'other.example', true],
      ['its own name', '', false],
    ])('a page opened under %s may use the addresses in it', async (_what, name, other) => {
      const headers: Record<string, string> = other ? { host: name } : {};
      const page = await stage.send({ send: 'GET open/blocks/note', accept: html, headers });
      const policy = String(page.headers['content-security-policy']);
      const allowed = policy.includes(`form-action 'self' ${stage.host.url}`);
      expect([page.status, allowed, policy.includes('other.example')]).toEqual([200, other, false]);
    });
  });
}
