/** Characters of JSON that Python reads without help. */
const shortJson = 2000;

/** Characters of a string that stay in the JSON. */
const shortString = 500;

/** First letter of JSON from which strings have been taken out, and of what stands for one: control characters. */
const marks = { json: '\u0001', text: '\u0000' };

export interface LongTexts {
  /** The JSON with a number instead of every long string. */
  takeOut(json: string): string;
  get(number: number): string;
  clear(): void;
}

/**
 * MicroPython reads a string in JSON in time that grows with the square of its length. So long strings are taken out
 * before it reads, and passed one by one (prelude/values.py).
 */
export function createLongTexts(): LongTexts {
  let texts: string[] = [];

  function takeOut(json: string): string {
    const before = texts.length;
    const short = JSON.stringify(
      JSON.parse(json, (_key, value: unknown) => {
        if (typeof value !== 'string') return value;
        const stays = value.length < shortString && !value.startsWith(marks.text);
        return stays ? value : `${marks.text}${texts.push(value) - 1}`;
      }),
    );
    return texts.length > before ? marks.json + short : json;
  }

  return {
    takeOut(json) {
      if (json.length < shortJson) return json;
      try {
        return takeOut(json);
      } catch {
        // Not JSON, or nested too deep: Python says so itself.
        return json;
      }
    },
    get: (number) => texts[number] ?? '',
    clear() {
      texts = [];
    },
  };
}
