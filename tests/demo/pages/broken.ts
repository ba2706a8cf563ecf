import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repository } from '../../support/theme';

/** An app whose blocks do not work, and a form that does. */
const app: Record<string, string> = {
  'settings.yaml': "with_theme: true\nacl: { rights: { submitter: ['*'] } }\n",
  'locales/de.yaml': 'hallo: Hallo\n',
  'blocks/part.yaml': 'title: Ein Teil\nelements: { part: BASIC }\n',
  'blocks/part.html': '<p>{part}</p>',
  'blocks/part.js': "export function part() { throw new Error('there is no such part'); }\n",
  'blocks/block.yaml': 'title: Ein Block\n',
  'blocks/block.html': '<p></p>',
  'blocks/block.js': "export function on_display() { throw new Error('there is no such block'); }\n",
  'blocks/loop.yaml': 'title: Eine Schleife\nelements: { go: { type: ACTION, label: Los } }\n',
  'blocks/loop.html': '{go}',
  'blocks/loop.js': 'export function on_display() { while (true); }\nexport function go() {}\n',
  'blocks/note.yaml': 'title: Eine Notiz\nelements: { text: { type: TEXT, label: Notiz } }\n',
  'blocks/note.html': '{text} {_save}',
};

/** Few milliseconds and one isolate, so that a loop is soon paused. */
export const limits = { logicTime: 500, isolates: 1 };

/** Writes the themes of the demo and the app `broken` into a folder. */
export async function writeBroken(folder: string): Promise<void> {
  await cp(path.join(repository, 'themes'), folder, { recursive: true });
  for (const [name, text] of Object.entries(app)) {
    const file = path.join(folder, 'demo', 'apps', 'broken', name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
