import { expect, test } from 'vitest';
import { localeFor } from './locales';
import { digestText } from './mail';

const digest = async (locale: string, mails: number, titles: readonly string[]) => {
  const links = titles.map((title, at) => ({ title, url: `https://example.org/site/@@apps/a/record/${at}?a&b` }));
  const about = { form: 'a/contact', mails, links, listUrl: 'https://example.org/admin/records' };
  return digestText(await localeFor({ locale, timeZone: null }, new Map()), about);
};

test('a digest has a line for each record, as text and as HTML', async () => {
  expect(await digest('en', 2, ['Message of Ada', '<img src=x onerror="alert(1)"> & \'more\''])).toEqual({
    subject: '2 new or changed records: a/contact',
    text: [
      'The form a/contact was sent more often than its app may send mails. These records are new or changed:',
      '',
      '- Message of Ada',
      '  https://example.org/site/@@apps/a/record/0?a&b',
      '- <img src=x onerror="alert(1)"> & \'more\'',
      '  https://example.org/site/@@apps/a/record/1?a&b',
    ].join('\n'),
    html:
      '<p>The form a/contact was sent more often than its app may send mails. These records are new or changed:</p><ul>' +
      '<li><a href="https://example.org/site/@@apps/a/record/0?a&amp;b">Message of Ada</a></li>' +
      '<li><a href="https://example.org/site/@@apps/a/record/1?a&amp;b">' +
      '&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; &#39;more&#39;</a></li></ul>',
  });
});

test.each([
  ['en', '1,200 new or changed records: a/contact', 'and 1,199 more:'],
  ['de', '1.200 neue oder geänderte Einträge: a/contact', 'und 1.199 weitere:'],
  ['fr', /^1\s200 fiches nouvelles ou modifiées : a\/contact$/, /^et 1\s199 autres :$/],
  ['es', '1200 fichas nuevas o modificadas: a/contact', 'y 1199 más:'],
])('a digest in %s counts what it does not list', async (locale, subject, more) => {
  const { text, html, ...mail } = await digest(locale, 1_200, ['One']);
  expect(mail.subject).toEqual(typeof subject === 'string' ? subject : expect.stringMatching(subject));
  const [last, url] = String(text).split('\n').slice(-2);
  expect(last).toEqual(typeof more === 'string' ? more : expect.stringMatching(more));
  expect(url).toBe('https://example.org/admin/records');
  expect(html).toContain('<a href="https://example.org/admin/records">');
});
