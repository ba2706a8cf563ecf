/** The steps that a README prints, so that a test follows what a reader follows. */

/**
 * The code blocks of one section, in their order: `{ language, text }`, and `path` when the line before names a file in
 * backticks at its end (`…, \`themes/a.html\`:`).
 * @param heading the section's heading without its `#`
 */
export function blocksOf(readme, heading) {
  const section = readme.split(/^(?=## )/m).find((one) => one.startsWith(`## ${heading}\n`));
  if (section === undefined) throw new Error(`The README has no section "${heading}"`);
  return [...section.matchAll(/(?:`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```$/gms)].map(([, path, language, text]) => ({
    language,
    text,
    ...(path && { path }),
  }));
}

/** The commands of the shell blocks of a section, one a line. */
export const commandsOf = (readme, heading) =>
  blocksOf(readme, heading)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'));
