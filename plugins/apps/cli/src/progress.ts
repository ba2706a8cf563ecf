/** Shows how much is done; `last` ends the line. */
export type ShowProgress = (done: number, last?: boolean) => void;

type Terminal = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;

const WIDTH = 30;

/**
 * A progress bar: one line that is overwritten on a terminal; elsewhere a line for every tenth part.
 * @param total of what is counted; of nothing, the bar is full
 */
export function progressBar(what: string, total: number, to: Terminal): ShowProgress {
  let shown = -1;
  return (done, last = false) => {
    const part = total > 0 ? Math.min(1, done / total) : 1;
    const step = Math.floor(part * (to.isTTY ? 1000 : 10));
    if (step === shown && !(last && to.isTTY)) return;
    shown = step;
    const bar = '#'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '.');
    const line = `${what} [${bar}] ${Math.floor(part * 100)} %`;
    to.write(to.isTTY ? `\r${line}${last ? '\n' : ''}` : `${line}\n`);
  };
}
