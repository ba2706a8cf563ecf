import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Whether LibreOffice is installed: tests that run it are left out elsewhere. */
export const hasOffice = ((): boolean => {
  try {
    execFileSync('soffice', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** Languages of spreadsheets in the tests, with the sign between the cells of their CSV and their number in LibreOffice. */
export const languages = [
  { tag: 'en', locale: 'en-US', separator: 44, id: 1033, order: ['month', 'day', 'year'], sign: '/', half: true },
  { tag: 'de', locale: 'de-DE', separator: 59, id: 1031, order: ['day', 'month', 'year'], sign: '.', half: false },
  { tag: 'fr', locale: 'fr-FR', separator: 59, id: 1036, order: ['day', 'month', 'year'], sign: '/', half: false },
] as const;

export type OfficeLanguage = (typeof languages)[number];

/** The folder of the sheet from which LibreOffice has made the other files, and of these. */
export const folder = join(__dirname, 'office');

/** Writes the sheet with days and hours as people of a language write them: LibreOffice keeps the order of their parts. */
export function writeSheet(path: string, { order, sign, half }: OfficeLanguage): void {
  const part = (name: string) => `<number:${name} number:style="long"/>`;
  const text = (one: string) => `<number:text>${one}</number:text>`;
  const time = ['hours', 'minutes', 'seconds'].map(part).join(text(':'));
  const day = order.map(part).join(text(sign));
  const style = `<number:date-style style:name="N2">${day}${text(' ')}${time}${half ? `${text(' ')}<number:am-pm/>` : ''}</number:date-style>`;
  const sheet = readFileSync(join(folder, 'people.fods'), 'utf8');
  writeFileSync(path, sheet.replace(/<number:date-style style:name="N2".*<\/number:date-style>/, style));
}

const XLSX = 'xlsx:Calc MS Excel 2007 XML';

/** Numbers of encodings in LibreOffice. */
export const charsets = { 'utf-8': 76, 'windows-1252': 1 } as const;

/** The filter of CSV: cells as they are shown; on reading, numbers and dates are found as when a person opens the file. */
const csv = (separator: number, { id }: OfficeLanguage, charset: number = charsets['utf-8']) =>
  `Text - txt - csv (StarCalc):${separator},34,${charset},1,,${id},false,true,true,false,false,-1`;

/** A LibreOffice whose settings are in a folder, in one language. */
export function office(folder: string, language: OfficeLanguage) {
  const profile = join(folder, `profile-${language.tag}`);
  mkdirSync(join(profile, 'user'), { recursive: true });
  const settings = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${language.locale}</value></prop></item></oor:items>`;
  writeFileSync(join(profile, 'user', 'registrymodifications.xcu'), settings);
  const convert = (file: string, filter: string, infilter?: string): string => {
    const target = join(folder, `made-${language.tag}`);
    mkdirSync(target, { recursive: true });
    const args = [
      `-env:UserInstallation=file://${profile}`,
      '--headless',
      ...(infilter ? [`--infilter=${infilter}`] : []),
      ...['--convert-to', filter, '--outdir', target, file],
    ];
    execFileSync('soffice', args, { stdio: 'ignore', timeout: 60_000 });
    return join(target, basename(file).replace(/\.\w+$/, `.${filter.split(':')[0]}`));
  };
  return {
    /** Opens a file and saves it as XLSX. */
    toXlsx: (file: string, from?: number) => convert(file, XLSX, from === undefined ? undefined : csv(from, language)),
    /** Opens a file and saves it as CSV. @param from the separator of a file that is CSV */
    toCsv: (file: string, { from, charset }: { from?: number; charset?: number } = {}) =>
      convert(
        file,
        `csv:${csv(language.separator, language, charset).replace(/,-1$/, '')}`,
        from === undefined ? undefined : csv(from, language),
      ),
  };
}
