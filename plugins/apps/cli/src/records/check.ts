import type { Run } from '../command';
import { exitCodes } from '../exit';
import { withStore } from './stored-app';

/** Compares all records with their index rows (docs/operate/storage.md#indexes). */
export const run: Run = async ({ options, output, host }) => {
  const repair = options.repair === true;
  const { records, wrong, orphanTables } = await withStore(host(), (store) => store.check({ repair }));
  const isWrong = wrong + orphanTables > 0;
  const found = `${records} records compared, ${wrong} wrong, ${orphanTables} orphaned index tables`;
  output.line(isWrong ? `${found}: ${repair ? 'repaired' : 'run it with --repair'}` : found);
  output.data({ records, wrong, orphanTables, repaired: isWrong && repair });
  return isWrong && !repair ? exitCodes.problems : exitCodes.fine;
};
