import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Command } from './command';
import { commands } from './commands';

const page = readFileSync(join(__dirname, '../../../../docs/reference/command-line.md'), 'utf8');

/** Each command with its whole name: `new app <id>`. */
const all = (list: readonly Command[], before = ''): { usage: string; command: Command }[] =>
  list.flatMap((command) => {
    const usage = `${before}${command.usage}`;
    return command.load ? [{ usage, command }] : all(command.commands ?? [], `${usage} `);
  });

/** The part of the page below a heading. */
function sectionOf(name: string): string {
  const [, ...sections] = page.split(/^## /m);
  return sections.find((section) => section.startsWith(`\`${name}`)) ?? '';
}

describe.each(all(commands))('$usage', ({ usage, command }) => {
  const section = sectionOf(usage.replace(/ [<[].*/, ''));

  test('has a section in docs/reference/command-line.md', () => {
    expect(section).not.toBe('');
  });

  test('has its options in that section, with their values', () => {
    for (const { flags, choices = [] } of command.options ?? []) {
      expect(section).toContain(`\`${flags}\``);
      for (const choice of choices) expect(section).toContain(`\`${choice}\``);
    }
  });
});
