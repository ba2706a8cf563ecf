import { describe, expect, test } from 'vitest';
import { locationOf } from '../../support/send';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { expectAnswer } from '../../support/table';

export function logOfLogic(stage: Stage): void {
  describe('log', () => {
    const talk = (app: string, mark: string) => ({ send: `GET ${app}/blocks/talk?mark=${mark}`, accept: html });
    // Console lines are text in the page; `</script>` in them must not end a script.
    const shows = (text: string, mark: string) => new RegExp(`hello .{0,40}script.{0,10} ${mark}`).test(text);

    test('an entry goes with debug to the server log and to that visitor', async () => {
      const { text } = await stage.send(talk('debug', 'mark-one'));
      expect(shows(text, 'mark-one'), text).toBe(true);
      expect(text).not.toContain('hello </script>');
      const line = (await stage.host.printed()).split('\n').find((one) => one.includes('hello </script> mark-one'));
      expect(line).toMatch(/debug/);
      expect(line).toMatch(/talk/);
    });

    test('an entry of the console keeps its level', async () => {
      const { text } = await stage.send(talk('debug', 'mark-level'));
      expect(text.replaceAll('&quot;', '"')).toContain('"message":"mark-level said","level":"warn"');
      const line = (await stage.host.printed()).split('\n').find((one) => one.includes('mark-level said'));
      expect(line).toMatch(/warn/);
    });

    test('an entry goes nowhere without debug', async () => {
      expect((await stage.send(talk('quiet', 'mark-two'))).text).not.toMatch(/hello/);
      expect(await stage.host.printed()).not.toContain('hello </script> mark-two');
    });

    test('an entry is one line, without control characters of a terminal', async () => {
      const mark = encodeURIComponent('forged\n[info] mark-four \u001b[31m\u009b\u2028end\r');
      expect((await stage.send(talk('debug', mark))).status).toBe(200);
      const output = await stage.host.printed();
      expect(output).toContain(String.raw`forged\n[info] mark-four \u001b[31m\u009b\u2028end\u000d`);
      expect(output).not.toMatch(/^\[info\] mark-four/m);
    });

    test('an entry is shown across a redirect, once, to that visitor alone', async () => {
      const done = await stage.send({
        send: 'POST debug/blocks/talk?mark=mark-three',
        accept: html,
        form: { 'action.go': '' },
      });
      expect(done.status).toBe(303);
      const cookie = (done.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
      const target = locationOf(done).pathname;
      expect((await stage.send({ send: `GET ${target}`, accept: html })).text).not.toContain('mark-three');
      const next = await stage.send({ send: `GET ${target}`, accept: html, headers: { cookie } });
      expect(next.text).toContain('going mark-three');
      expect(next.headers['set-cookie']?.join()).toMatch(/Max-Age=0|Expires=Thu, 01 Jan 1970/i);
    });

    test('a failing function is explained in debug mode alone', async () => {
      expectAnswer(await stage.send({ send: 'GET debug/blocks/talk/fails' }), {
        status: 500,
        error: 'LogicError',
        has: ['told in debug mode', 'blocks/talk.js'],
        gives: { error: { details: { line: expect.any(Number) } } },
      });
      expectAnswer(await stage.send({ send: 'GET quiet/blocks/talk/fails' }), {
        status: 500,
        error: 'LogicError',
        lacks: ['told in debug mode', 'talk.js'],
      });
    });
  });
}
