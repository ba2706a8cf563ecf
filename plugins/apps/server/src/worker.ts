import { serveTasks } from './workers/serve';

/** A task that is loaded when it is first done: a process that reads a database needs no compiler. */
const lazy =
  <Input>(load: () => Promise<(input: Input) => unknown>) =>
  async (input: Input) =>
    (await load())(input);

/** The program of the worker processes (workers/): a row for each task that the server may hand to one. */
serveTasks({
  compileLogic: lazy(async () => (await import('./logic/compile/task')).compileLogic),
  markup: lazy(async () => (await import('./layouts')).doMarkup),
  readSqlite: lazy(async () => (await import('./records/sqlite-task')).readSqlite),
});
