import { expect, test } from 'vitest';
import type { App } from '../types';
import { pixelFindings, spellingFindings } from './check-app';

function appOf(text: string, path = 'blocks/b.yaml'): Pick<App, 'folder'> {
  const file = { path, text };
  return { folder: { files: new Map([[file.path, file]]) } as unknown as App['folder'] };
}

function found(text: string) {
  return spellingFindings(appOf(text), { id: 'b' }).map(
    ({ severity, position: { line, column }, message, cure }) => `${severity} ${line}:${column} ${message}. ${cure}`,
  );
}

const element = (settings: string) => `elements:\n  a: { ${settings} }\n`;

test.each<[settings: string, written: string, value: string]>([
  ['type: SELECT, options: [01067, "01099"]', '01067', '1067'],
  ['type: SELECT, options: [a, 1.0]', '1.0', '1'],
  ['type: RADIO, options: [{ value: 1.10, label: x }]', '1.10', '1.1'],
  ['type: RADIO, options: [{ value: x, label: 007 }]', '007', '7'],
  ['type: CHECKBOXES, options: [1e3]', '1e3', '1000'],
  ['type: SELECT, options: [0x1F]', '0x1F', '31'],
  ['type: TEXT, default: 0123', '0123', '123'],
  ['type: TEXT, default: 12345678901234567890', '12345678901234567890', '12345678901234567000'],
  ['type: TEXT, show_if: { zip: 01067 }', '01067', '1067'],
  ['type: TEXT, show_if: { zip: [01067] }', '01067', '1067'],
  ['type: TEXT, default: +49', '+49', '49'],
])('%s has a number that is read in another way', (settings, written, value) => {
  const [finding, ...others] = found(element(settings));
  expect(others).toEqual([]);
  expect(finding).toContain(
    `"${written}" is the number ${value}, which is shown and stored. Put a text in quotes: "${written}".`,
  );
});

test('a definition may be a file .yml', () => {
  const app = appOf(element('type: SELECT, options: [01067]'), 'blocks/b.yml');
  expect(spellingFindings(app, { id: 'b' })).toMatchObject([{ position: { file: 'blocks/b.yml' } }]);
});

test('the place is that of the number, in entries and groups too', () => {
  const text = `elements:
  list:
    type: REPEAT
    elements:
      zip:
        type: SELECT
        options:
          - 01067 # Dresden
          - 10115
`;
  expect(found(text)).toEqual([
    'warning 8:13 elements.list.elements.zip.options.0: "01067" is the number 1067, which is shown and stored. Put a text in quotes: "01067".',
  ]);
});

test.each(
  [
    ...[
      'type: SELECT, options: ["01067", 1, -1.5, 10115, x]',
      'type: NUMBER, default: 1.0',
      'type: TEXT, default: "01"',
    ],
    ...['type: NUMBER, min: 0.50', 'type: TEXT, label: 01', 'type: BOOLEAN, default: true'],
  ].map((settings) => [element(settings)]),
)('%s has none', (text) => {
  expect(found(text)).toEqual([]);
});

test.each(['', 'elements: [', 'elements: 01', 'elements: { a: 01 }'])('%j is reported elsewhere, or right', (text) => {
  expect(found(text)).toEqual([]);
});

test('pictures of more pixels than the host takes are reported, in entries too, others are not', () => {
  const text = `elements:
  small: { type: IMAGE, max_pixels: 1000 }
  large: { type: IMAGE, max_pixels: 1001 }
  list: { type: REPEAT, elements: { file: { type: FILE, max_pixels: 5000 } } }
`;
  const positions = pixelFindings(appOf(text), { id: 'b' }, 1_000).map(({ position, message, cure }) => {
    expect(message).toContain('"limits.imagePixels" of this host, which takes pictures of 1000 pixels');
    expect(cure).toContain('1000 or less');
    return [position.line, message.split(':')[0]];
  });
  expect(positions).toEqual([
    [3, 'elements.large.max_pixels'],
    [4, 'elements.list.elements.file.max_pixels'],
  ]);
  expect(pixelFindings(appOf('elements: ['), { id: 'b' }, 1_000)).toEqual([]);
});
