import { describe, expect, test } from 'vitest';
import { AppsError } from '../../../common/errors';
import { localeFor } from '../../locales';
import { englishMark, failureMark } from './failures';

const position = { file: 'blocks/a.js', line: 3 };
const localeOf = (locale: string) => localeFor({ locale, timeZone: null }, new Map());
const error = new AppsError('LogicError', '<b>', { position });

describe('the mark of a failed part', () => {
  test.each<[string, unknown, boolean, string]>([
    ['en', error, true, 'This part could not be shown: blocks/a.js:3: &lt;b&gt;'],
    ['en', error, false, 'This part could not be shown'],
    ['en', new Error('a path of the machine'), true, 'This part could not be shown'],
    ['de', error, false, 'Dieser Teil konnte nicht gezeigt werden'],
    ['fr-CA', error, true, 'Cette partie n’a pas pu être affichée : <span lang="en">blocks/a.js:3: &lt;b&gt;</span>'],
  ])('in %s of %s, explained: %j', async (locale, failure, explained, text) => {
    expect(failureMark(await localeOf(locale), failure, explained)).toBe(
      `<span class="apps-error" role="alert">${text}</span>`,
    );
  });

  test('an English text for developers names its language on a page in another one', async () => {
    expect(englishMark(await localeOf('en'), 'no <b>')).not.toContain('lang');
    expect(englishMark(await localeOf('es'), 'no <b>')).toContain('><span lang="en">no &lt;b&gt;</span><');
  });
});
