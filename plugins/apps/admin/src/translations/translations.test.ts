import { describe, expect, test } from 'vitest';
import { translations } from '.';
import en from './en.json';

/** The names in braces of a text. */
const argumentsOf = (text: string) => [...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name).sort();

describe.each(Object.keys(translations))('the texts in %s', (language) => {
  test('have all keys, none is empty, and all take the same values', async () => {
    const texts = (await translations[language]?.())?.default ?? {};
    expect(Object.keys(texts).sort()).toEqual(Object.keys(en).sort());
    for (const [key, text] of Object.entries(en)) {
      expect(texts[key]?.trim(), key).toBeTruthy();
      expect(new Set(argumentsOf(texts[key] ?? '')), key).toEqual(new Set(argumentsOf(text)));
    }
  });
});
