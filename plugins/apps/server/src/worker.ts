import { readSqlite } from './records/sqlite-task';
import { serveTasks } from './workers/serve';

/** The program of the worker processes (workers/): a row for each task that the server may hand to one. */
serveTasks({ readSqlite });
