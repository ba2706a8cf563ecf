import { expect, test } from 'vitest';
import type { Answer } from './send';
import type { Row, Stage } from './stage';

/** Text that no answer may show (docs/reference/http.md#statuses). */
const leaks = [
  /\n\s+at .+:\d+:\d+/,
  /\/plugins\/apps\//,
  /node_modules/,
  /\/tmp\//,
  /\bselect\b.+\bfrom\b/i,
  /SQLITE_/,
];

/** Checks an answer against its row. */
export function expectAnswer(answer: Answer, row: Omit<Row, 'title' | 'send'>): void {
  const { status, text, headers, json } = answer;
  expect(status, text.slice(0, 2_000)).toBe(row.status);
  if (row.error) {
    expect(json).toMatchObject({
      data: null,
      error: { status: row.status, name: row.error, message: expect.any(String), details: expect.anything() },
    });
    expect(headers['content-type']).toContain('application/json');
  }
  if (row.status >= 400) for (const leak of leaks) expect(text).not.toMatch(leak);
  if ('is' in row) expect(json).toEqual(row.is);
  if (row.gives) expect(json).toMatchObject(row.gives);
  for (const part of row.has ?? []) expectPart(text, part, true);
  for (const part of row.lacks ?? []) expectPart(text, part, false);
  for (const [name, value] of Object.entries(row.answers ?? {})) {
    const given = headers[name.toLowerCase()];
    if (value === null) expect(given, name).toBeUndefined();
    else if (typeof value === 'string') expect(String(given), name).toBe(value);
    else expect(String(given), name).toMatch(value);
  }
}

function expectPart(text: string, part: string | RegExp, wanted: boolean): void {
  if (typeof part === 'string') expect(text.includes(part), `"${part}" in ${text.slice(0, 2_000)}`).toBe(wanted);
  else expect(part.test(text), `${part} in ${text.slice(0, 2_000)}`).toBe(wanted);
}

/** Runs a table: every row is one test, in order; a row may build on the rows above it. */
export function runTable(stage: Stage, rows: readonly Row[]): void {
  for (const row of rows) {
    test(`${row.title} | ${row.as ?? 'anonymous'}: ${row.send.slice(0, 90)} -> ${row.status}`, async () => {
      const answer = await stage.send(row);
      expectAnswer(answer, row);
    });
  }
}
