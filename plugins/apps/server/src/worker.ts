import { serveTasks } from './workers/messages';

/** Loads a task at its first use: a process that reads a database needs no compiler. */
const lazy =
  <Input>(load: () => Promise<(input: Input) => unknown>) =>
  async (input: Input) =>
    (await load())(input);

/** The program of the worker processes (workers/): a row for each task that the server may hand to one. */
serveTasks({
  checkLogic: lazy(async () => (await import('./logic/check/task')).checkLogic),
  compileLogic: lazy(async () => (await import('./logic/compile/task')).compileLogic),
  markup: lazy(async () => (await import('./layouts')).doMarkup),
  markdown: lazy(async () => (await import('./layouts/markdown')).doMarkdown),
  preparePicture: lazy(async () => (await import('./files/picture-task')).preparePicture),
  readSheet: lazy(async () => (await import('./interchange/sheet-task')).readSheet),
  copySqliteLog: lazy(async () => (await import('./database/sqlite-task')).copySqliteLog),
  readSqlite: lazy(async () => (await import('./database/sqlite-task')).readSqlite),
});
