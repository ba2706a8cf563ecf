import { describe, expect, test } from 'vitest';
import { errorText } from '../../common/errors';
import type { AppFolder } from '../../sites';
import { loadApp } from './app';
import { readDefinition } from './definition';
import { failure, file, many } from './testing/definitions';

const read = (text: string) => readDefinition(file(text)).schedules;

describe('the schedules of a block', () => {
  test.each([
    ['', []],
    ['schedules:', []],
    ['schedules: []', []],
    [
      "schedules: [{run: send, cron: '0 6 * * 1-5'}]",
      [{ run: 'send', cron: '0 6 * * 1-5', timeZone: null, missed: 'once' }],
    ],
    [
      "schedules: [{run: a, cron: ' 0  6 * * 1 ', time_zone: Europe/Paris, missed: all}, {run: a, cron: '*/5 * * * * *', missed: skip}]",
      [
        { run: 'a', cron: '0 6 * * 1', timeZone: 'Europe/Paris', missed: 'all' },
        { run: 'a', cron: '*/5 * * * * *', timeZone: null, missed: 'skip' },
      ],
    ],
  ])('reads %j', (text, expected) => {
    expect(read(text)).toMatchObject(expected);
  });

  test.each<[string, RegExp]>([
    ['schedules: daily', /^blocks\/rate.yaml:1:12: schedules: This must be a list of schedules, not the text "daily"$/],
    ['schedules: {run: a}', /must be a list of schedules, not a mapping$/],
    ["schedules: [{cron: '0 6 * * *'}]", /^blocks\/rate.yaml:1:13: schedules.0: A schedule needs a "run"/],
    ['schedules: [{run: send}]', /schedules.0: A schedule needs a "cron", such as "0 6 \* \* 1-5"$/],
    [
      "schedules: [{run: a b, cron: '0 6 * * *'}]",
      /^blocks\/rate.yaml:1:19: schedules.0.run: This must be the name of a function of the block, not the text "a b"$/,
    ],
    [
      "schedules:\n  - run: send\n    cron: '0 25 * * *'",
      /^blocks\/rate.yaml:3:11: schedules.0.cron: This must be a cron text .*, not the text "0 25 \* \* \*": Invalid value for hour: 25$/,
    ],
    ['schedules: [{run: a, cron: 5}]', /schedules.0.cron: This must be a cron text such as .*, not the number 5$/],
    ["schedules: [{run: a, cron: '0 0 30 2 *'}]", /: no day has such a date$/],
    [
      "schedules: [{run: a, cron: '0 6 * * *', time_zone: Paris}]",
      /schedules.0.time_zone: This must be a time zone such as Europe\/Paris, not the text "Paris"$/,
    ],
    ["schedules: [{run: a, cron: '0 6 * * *', missed: never}]", /missed: This must be "skip" or "once" or "all"/],
    ["schedules: [{run: a, cron: '0 6 * * *', zone: UTC}]", /The key "zone" is not known.*Allowed: cron, missed, run/],
    [
      "schedules: [{run: a, cron: '0 6 * * *'}, {run: a, cron: '0  6 * * *', missed: all}]",
      /^blocks\/rate.yaml:1:42: schedules.1: This schedule is there twice$/,
    ],
    [`schedules: [${many(21, (n) => `{run: f${n}, cron: '0 6 * * *'}`)}]`, /A block has at most 20 schedules$/],
  ])('refuses %j', (text, message) => {
    expect(errorText(failure(() => read(text)))).toMatch(message);
  });

  test('an app has at most a hundred; a further block is broken', async () => {
    const text = `schedules: [${many(20, (n) => `{run: f${n}, cron: '0 6 * * *'}`)}]`;
    const files = new Map(many(6, (n) => `blocks/b${n}.yaml`).map((path) => [path, { path, text }]));
    const site = { id: 'site', title: '', url: '', theme: 'default', locale: null, timeZone: null };
    const folder: AppFolder = {
      site,
      appId: 'many',
      themeId: 'default',
      revision: '1',
      settings: null,
      theme: null,
      files,
      themeFiles: new Map(),
    };
    const { blocks } = await loadApp(folder);
    expect([...blocks.values()].map(({ error }) => error && errorText(error))).toEqual([
      ...Array(5).fill(null),
      'blocks/b5.yaml:1:13: The blocks of an app have at most 100 schedules together',
    ]);
  });
});
