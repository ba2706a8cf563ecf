import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { location, visitor } from './visitor';

export function comments(host: Host): void {
  describe('comments', () => {
    const at = '/articles/welcome';
    const block = `/site${at}/@@apps/comments/blocks/comment`;
    const comment = (name: string | null, text: string) =>
      visitor(host, 'comments', name, at).submit('blocks/comment', { text, _save: '1' });
    const seen = async (name: string | null) => (await visitor(host, 'comments', name, at).open('blocks/comment')).text;

    test('a submitter writes without reading, a moderator lets it through', async () => {
      const sent = await comment('sam', 'Sam <b>was</b> here');
      expect([sent.status, location(sent)]).toEqual([303, `${block}?sent=yes`]);
      expect(await seen(null)).not.toContain('was');
      expect(await seen('sam')).toContain('waiting for a moderator');
      expect((await visitor(host, 'comments', 'sam').get('records')).status).toBe(403);

      const eric = visitor(host, 'comments', 'eric');
      const page = await eric.open('blocks/moderate');
      expect(page.text).toContain('sam on /articles/welcome: Sam &lt;b&gt;was&lt;/b&gt; here');
      const chosen = /name="chosen"[^>]* value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const approved = await eric.submit('blocks/moderate', { chosen, 'action.approve': '1' });
      expect(location(approved)).toBe('/site/@@apps/comments/blocks/moderate');
      expect((await eric.open('blocks/moderate')).text).toContain('Nothing to do');
      expect(await seen(null)).toContain('Sam &lt;b&gt;was&lt;/b&gt; here');
    });

    test('an author changes an own comment, which then waits again; others cannot', async () => {
      await comment('anna', 'First thought');
      const anna = visitor(host, 'comments', 'anna', at);
      const { json } = await anna.get<{ id: string; items: { text: string } }[]>('records');
      const own = json.find(({ items }) => items.text === 'First thought')?.id ?? '';
      expect(await seen('anna')).toContain(`record/${own}/edit`);
      const path = `record/${own}`;
      const changed = await anna.submit(path, { text: 'Second thought', _save: '1' });
      expect([changed.status, location(changed)]).toEqual([303, `${block}?sent=yes`]);

      expect((await anna.patch(path, { state: 'approved' })).status).toBe(403);
      expect((await anna.get<{ state: string }>(path)).json.state).toBe('waiting');
      expect((await anna.patch(path, { block: null })).status).toBe(422);
      expect(await seen(null)).not.toContain('Second thought');

      expect((await visitor(host, 'comments', 'rita', at).submit(path, { text: 'x', _save: '1' })).status).toBe(303);
      expect((await anna.get<{ text: string }>(path)).json.text).toBe('Second thought');
      expect((await visitor(host, 'comments', 'rita', at).patch(path, { text: 'x' })).status).toBe(403);
    });

    test('an editor’s own comment is shown at once, and rejecting deletes', async () => {
      expect(location(await comment('eric', 'From the editor'))).toBe(block);
      expect(await seen(null)).toContain('From the editor');
      await comment('sam', 'Buy now');
      const eric = visitor(host, 'comments', 'eric');
      const { text } = await eric.open('blocks/moderate');
      const chosen = /value="([^"]+)".*Buy now/s.exec(text.slice(text.lastIndexOf('name="chosen"')))?.[1] ?? '';
      await eric.submit('blocks/moderate', { chosen, 'action.reject': '1' });
      expect((await eric.get(`record/${chosen.split(' ')[0]}`)).status).toBe(404);
    });

    test.each([
      [null, 401],
      ['rita', 403],
      ['sam', 403],
      ['anna', 403],
      ['mona', 200],
    ])('moderation for %s is %i', async (name, status) => {
      const who = visitor(host, 'comments', name);
      expect((await who.open('blocks/moderate')).status).toBe(status);
      expect((await who.submit('blocks/moderate', {})).status).toBe(status);
    });

    test.each([[null], ['rita']])('%s cannot comment and is led to the login', async (name) => {
      expect(await seen(name)).toContain('/site/@@login?next=');
      const before = (await visitor(host, 'comments', 'eric').get<unknown[]>('records')).json.length;
      const reply = await comment(name, 'Let me in');
      expect([reply.status, location(reply)]).toEqual([303, `/site/@@login?next=${encodeURIComponent(block)}`]);
      expect((await visitor(host, 'comments', 'eric').get<unknown[]>('records')).json).toHaveLength(before);
    });
  });
}
