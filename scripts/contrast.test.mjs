import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './prepare.mjs';

/** The custom properties of a style sheet's `:root`, in light and in dark: those of dark over those of light. */
function schemesOf(file) {
  const [light, dark] = readFileSync(join(root, file), 'utf8').split('@media (prefers-color-scheme: dark)');
  const read = (text) =>
    Object.fromEntries([...rootOf(text).matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, k, v]) => [k, v]));
  return { light: read(light), dark: { ...read(light), ...read(dark) } };
}

const rootOf = (text) => /:root\s*\{([^}]*)\}/.exec(text)[1];

/** The colour of a property, through `var(…)`. */
function colour(scheme, name) {
  const value = scheme[name];
  const inner = /^var\((--[\w-]+)\)$/.exec(value)?.[1];
  return inner ? colour(scheme, inner) : value;
}

/** Relative luminance, and contrast of two colours, as WCAG 2.2 defines them. */
function luminance(hex) {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
  const [red, green, blue] = digits
    .map((digit) => Number.parseInt(digit, 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

const pairs = [
  ['ink', 'paper', 4.5],
  ['ink', 'soft', 4.5],
  ['muted', 'paper', 4.5],
  ['danger', 'paper', 4.5],
  ['accent', 'paper', 4.5],
  ['accent-ink', 'accent', 4.5],
  ['line', 'paper', 3],
  ['line', 'soft', 3],
  ['focus', 'paper', 3],
];

const sheet = schemesOf('plugins/apps/browser/src/apps.css');
const demo = schemesOf('themes/demo/assets/theme.css');

describe.each([
  ['@@apps.css in light', sheet.light],
  ['@@apps.css in dark', sheet.dark],
  ['the demo in light', { ...sheet.light, ...demo.light }],
  ['the demo in dark', { ...sheet.dark, ...demo.dark }],
])('%s', (_name, scheme) => {
  test.each(pairs)('%s on %s has a contrast of %f', (front, back, least) => {
    expect(contrast(colour(scheme, `--apps-${front}`), colour(scheme, `--apps-${back}`))).toBeGreaterThanOrEqual(least);
  });
});
