import { expect, test } from 'vitest';
import { isAppsError } from '../../../plugins/apps/server/src/common/errors';
import { createLayouts } from '../../../plugins/apps/server/src/layouts';
import { inlineLimits, markupLimits, Work } from '../../../plugins/apps/server/src/layouts/markup/bounded-parser';
import { doMarkup, selected, ThemePage } from '../../../plugins/apps/server/src/layouts/markup/markup';
import { parseDocument, parsePiece } from '../../../plugins/apps/server/src/layouts/markup/selectors';
import { findSlow, longestWait, type Subject } from './grow';
import { htmlPieces, largeHtml, layouts, liquidPieces, selectorPieces } from './markup';

const seeds = process.env.FUZZ_SEEDS?.split(',').map(Number) ?? [1, 2, 3];
const rounds = Number(process.env.FUZZ_ROUNDS ?? 60);

const { characters } = inlineLimits;
const page = `<main>${'<div class="a aaaaaaaaaaaa"><p>x</p><p a=b>y</p></div>'.repeat(900)}</main>`.slice(
  0,
  characters,
);
const deep = `${'<div class=a>'.repeat(200)}x${'<p>y</p>'.repeat(400)}`;
const compiler = createLayouts();

/** Functions of the server's main thread that read such texts, within their bounds. */
const subjects: readonly Subject[] = [
  { name: 'a block', pieces: htmlPieces, maxSize: characters, work: (html) => parsePiece(html, Work.inline()) },
  { name: 'a page', pieces: htmlPieces, maxSize: characters, work: (html) => parseDocument(html, Work.inline()) },
  { name: 'a part', pieces: htmlPieces, maxSize: characters, work: (html) => selected(html, 'p ~ b', Work.inline()) },
  {
    name: 'a selector in a wide page',
    pieces: selectorPieces,
    maxSize: 1_000,
    work: (selector) => new ThemePage(page, Work.inline()).has(selector),
  },
  {
    name: 'a selector in a deep page',
    pieces: selectorPieces,
    maxSize: 1_000,
    work: (selector) => new ThemePage(deep, Work.inline()).has(selector),
  },
  {
    name: 'a layout',
    pieces: liquidPieces,
    maxSize: 262_144,
    work: (text) => compiler.compile({ path: 'a.html', text }),
  },
];

test.each(subjects.flatMap((subject) => seeds.map((seed) => ({ ...subject, seed }))))(
  '$name, seed $seed',
  { timeout: 600_000 },
  ({ seed, ...subject }) => {
    expect(findSlow({ ...subject, bounded: true }, seed, rounds)).toEqual([]);
  },
);

const data = { element: async () => ({ html: 'x' }), context: {}, debug: false, onUndefined: () => undefined };

test.each(seeds)('renderings do not block other work, seed %i', { timeout: 600_000 }, async (seed) => {
  for (const { name, text } of layouts(seed, rounds)) {
    const attempt = async () => {
      try {
        await compiler.compile({ path: 'a.html', text }).render(data);
      } catch (error) {
        if (!isAppsError(error, 'DefinitionError')) throw error;
      }
    };
    let wait = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3 && wait > 300; run += 1) wait = Math.min(wait, await longestWait(attempt));
    expect(wait, name).toBeLessThan(300);
  }
});

test.each(seeds)('large HTML is parsed within its time limit, seed %i', { timeout: 600_000 }, (seed) => {
  const cpu = (since?: NodeJS.CpuUsage) => process.cpuUsage(since);
  for (const { name, text } of largeHtml(seed, rounds / 3, markupLimits.characters)) {
    const begin = cpu();
    try {
      doMarkup({ task: 'balance', input: { html: text }, time: markupLimits.time });
    } catch (error) {
      if (!isAppsError(error, 'DefinitionError')) throw error;
    }
    const { user, system } = cpu(begin);
    const time = (user + system) / 1000;
    if (time > markupLimits.time) console.log(`${name}: ${time.toFixed(0)} ms`);
    expect(time, name).toBeLessThan(2 * markupLimits.time);
  }
});
