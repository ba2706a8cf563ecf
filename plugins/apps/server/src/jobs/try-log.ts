import type { Logger } from '../common/log';
import type { Failed } from './queue';
import type { Job } from './types';

/** Notes a try that has ended. @param time milliseconds @param failed null: the job is done */
export type LogTry = (job: Job, time: number, failed: Failed | null) => void;

/**
 * Writes what has become of tries to the server's log: the first failure of a job and its end, because the tries between them
 * say the same again; with `isFull` each try, as developers want to see them.
 */
export function createTryLog(logger: Logger, isFull: boolean): LogTry {
  return ({ id, key, kind, name, attempts, wasMissing }, time, failed) => {
    const job = `[apps] job ${id} of ${key.site}/${key.app} (${kind} ${name})`;
    if (!failed) {
      if (isFull) logger.info(`${job} done in ${time} ms`);
      return;
    }
    const { isDead, reason } = failed;
    const next = isDead ? 'it is given up' : 'it will be tried again';
    const line = `${job} failed${isFull ? ` in ${time} ms, try ${attempts}` : ''}, ${next}: ${reason}`;
    if (isDead) logger.error(line);
    else if (isFull || (attempts === 1 && !wasMissing)) logger.warn(line);
  };
}
