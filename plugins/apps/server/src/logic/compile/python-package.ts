import { createRequire } from 'node:module';
import { definitionError } from '../../common/errors';

const name = 'strapi-plugin-apps-python';

/** The command that makes Python logic run (docs/reference/installation.md#python). */
const pythonCommand = `npm install ${name}`;

/** Whether the optional package with Python is installed; a new one is seen after a restart. */
export function hasPython(): boolean {
  try {
    createRequire(__filename).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** The error of a `.py` file where Python is not installed. */
export const withoutPython = (file: string) =>
  definitionError(`Python logic needs the package ${name}. Run "${pythonCommand}", then restart Strapi`, { file });
