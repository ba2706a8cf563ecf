import type { FileTools } from '../../server/src';
import type { MoveReport, MoveTarget } from '../../server/src/operator-tools';
import { CannotRun, exitCodes, type RunCommand } from './command';
import { withStrapi } from './host';
import type { Output } from './output';

const NO_FILES = 'No form has stored a file';

/** What stays where it is, in words. */
const stays: readonly [key: 'there' | 'otherwise' | 'used' | 'gone', why: Record<MoveTarget, string>][] = [
  ['there', { private: 'were private', public: 'were public' }],
  [
    'otherwise',
    {
      private: 'stay public: their elements say `public: true`',
      public: 'stay private: their elements do not say `public: true`',
    },
  ],
  ['used', { private: 'stay public: content of Strapi uses them', public: 'are used by content' }],
  ['gone', { private: 'are gone: nothing is stored of them', public: 'are gone: nothing is stored of them' }],
];

function print(output: Output, to: MoveTarget, report: MoveReport): void {
  const { site, app, moved, failed } = report;
  const parts = stays.flatMap(([key, why]) => (report[key] > 0 ? [`${report[key]} ${why[to]}`] : []));
  output.line(
    [`${site}/${app}: ${moved} moved`, ...parts, ...(failed.length > 0 ? [`${failed.length} failed`] : [])].join(', '),
  );
  for (const { file, message } of failed) output.line(`  ${file}: ${message}`);
}

/** Moves files of records (docs/reference/files.md#moving-files); run again, it goes on where it was ended. */
const moving =
  (to: MoveTarget): RunCommand =>
  async ({ args: { app }, output, host }) => {
    const reports = await withStrapi(host(), (strapi) =>
      (strapi.plugin('apps').service('files') as FileTools).move(to, app),
    );
    if (app !== undefined && reports.length === 0) throw new CannotRun(`${NO_FILES} in an app "${app}"`);
    if (reports.length === 0) output.line(NO_FILES);
    for (const report of reports) print(output, to, report);
    output.data({ to, apps: reports });
    return reports.some(({ failed }) => failed.length > 0) ? exitCodes.problems : exitCodes.fine;
  };

export const toPrivate = moving('private');
export const toPublic = moving('public');
