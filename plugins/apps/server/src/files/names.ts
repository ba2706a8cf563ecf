/** Maximum characters of a file's name. */
const MAX_NAME = 100;

/** Characters that no name needs: controls, those that reverse or hide text, and those that systems refuse. */
const UNWANTED = /[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*%&#;'`$!{}[\]^~=+,@]/gu;

/** Names that Windows gives to devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** The ending of a name, in lower case and without the dot; '' without one. */
export function endingOf(name: string): string {
  return /\.([a-z0-9]{1,10})\s*$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** The name of a file as its sender has it, in one line without its path: messages name the file by it. */
export function chosenName(given: string): string {
  const last = given.slice(0, 4_000).split(/[/\\]/).at(-1) ?? '';
  return last
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, MAX_NAME);
}

/**
 * A file's name without its path and without characters that mislead or harm, with the given ending.
 * @param ending without the dot
 */
export function cleanName(given: string, ending: string): string {
  const last = given.slice(0, 4_000).split(/[/\\]/).at(-1) ?? '';
  const stem = last.replace(/\.[a-z0-9]{1,10}\s*$/i, '');
  const clean = stem
    .normalize('NFC')
    .replace(UNWANTED, ' ')
    .replace(/[\s.]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
  const name = clean === '' || DEVICE.test(clean) ? `file${clean && `-${clean}`}` : clean;
  return `${name}.${ending}`;
}
