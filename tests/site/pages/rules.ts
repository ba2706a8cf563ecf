import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { timed } from '../../support/time';
import { page, pagesOf } from './requests';

export function themeRules(stage: Stage): void {
  const { html } = pagesOf(stage);

  describe('theme rules', () => {
    runTable(stage, [
      {
        title: 'a rule appends on every page',
        ...page,
        send: 'GET /site/articles/plain',
        status: 200,
        has: [/<div class="comments"><form name="where"/],
      },
      {
        title: 'a rule inserts before, for a path',
        ...page,
        send: 'GET /site/articles/rules',
        status: 200,
        has: [/<b class="hello">Hello rule<\/b>\n<\/form><footer>/],
      },
      {
        title: 'a rule inserts after, with select, for a glob',
        ...page,
        send: 'GET /site/articles/rules',
        status: 200,
        has: ['<footer>End</footer><b class="hello">Hello after</b>\n</body>'],
      },
      {
        title: 'a rule for a path does nothing on others',
        ...page,
        send: 'GET /site/articles/plain',
        status: 200,
        lacks: ['Hello rule', 'Hello after', 'Hello replaced'],
      },
      {
        title: 'a rule replaces, for the whole path',
        ...page,
        send: 'GET /site/articles/replace',
        status: 200,
        has: ['Hello replaced'],
        lacks: ['<header'],
      },
      {
        title: 'a rule prepends, for content',
        ...page,
        send: 'GET /site/articles/conditional',
        status: 200,
        has: [/<main id="main"><form name="hello"/],
      },
      {
        title: 'a rule for content does nothing on other content',
        ...page,
        send: 'GET /site/articles/plain',
        status: 200,
        lacks: ['Hello first'],
      },
      {
        title: 'a rule does not reach into forms',
        ...page,
        send: 'GET /site/articles/nested',
        status: 200,
        lacks: ['Hello second', 'Hello inform', 'Hello void'],
      },
      {
        title: 'a failing include leaves the page whole',
        ...page,
        send: 'GET /site/articles/failing',
        status: 200,
        has: ['<div class=slot></div><div class=slot2></div>', '<footer>End</footer>'],
        lacks: ['boom', 'apps-error'],
      },
      {
        title: 'an include that is not permitted is left out',
        ...page,
        send: 'GET /site/articles/plain',
        status: 200,
        has: ['<div class=slot></div>'],
        lacks: ['For editors'],
      },
      {
        title: 'an include that is permitted is shown',
        ...page,
        as: 'eric',
        send: 'GET /site/articles/plain',
        status: 200,
        has: ['For editors: eric'],
      },
      {
        title: 'an include that is not balanced is closed',
        ...page,
        send: 'GET /site/articles/unbalanced',
        status: 200,
        has: [
          /<div class=slot><form name="unbalanced".*<\/form>\s*<div>open <!-- not closed.*--><\/div><\/div><div class=slot2>/s,
        ],
      },
    ]);

    test('rules leave the rest of a page unchanged, byte for byte', async () => {
      const text = await html('GET /site/articles/failing');
      const without = text.replace(/<form name="where".*?<\/form>/s, '');
      expect(without).toBe(
        '<!DOCTYPE html>\r\n<HTML lang=en>\n<head><meta charset=utf-8><title>Failing</title>\n' +
          `<script src="${stage.host.url}/site/@@apps.js" defer></script></head>\n<body class="api::article.article">\n` +
          '<!-- kept   as  it is -->\n<header id=top>Demo site </header>\n<p>unclosed {keep} &copy\n<main id="main">' +
          '<article><h1>Failing</h1><p class="summary"></p><div class="comments"></div></article>\n</main>\n' +
          '<img id=void src=x.png>\n<div class=slot></div><div class=slot2></div><form id=own><i id=inform></i></form>\n' +
          '<footer>End</footer>\n</body>\n</HTML>\n',
      );
    });

    test('all logic of a page shares one budget, and late blocks are left out', async () => {
      const { result, time } = await timed(() => stage.send({ ...page, send: 'GET /site/articles/looping' }));
      const { status, text } = result;
      expect(time).toBeLessThan(4_000);
      expect(status).toBe(200);
      expect(text).toContain('<footer>End</footer>');
      expect(text).not.toContain('name="loops"');
    });

    test('a broken rule is in the log, with its position', async () => {
      const warnings = (await stage.host.printed()).match(/rules\.yaml:\d+:\d+: [^"\\,]{0,40}/g);
      expect(new Set(warnings)).toEqual(
        new Set([
          'rules.yaml:43:11: 15.before: This is not a CSS selector: E',
          'rules.yaml:45:3: 16: A rule needs exactly one of before',
          "rules.yaml:49:12: 17.include: This must be a block's addre",
          'rules.yaml:51:3: 18.inclde: The key ',
        ]),
      );
    });
  });
}
