/**
 * Waits up to `time` milliseconds for `work`, which continues afterwards. Rejects when the work rejects before.
 * @param keepsAlive whether the timer keeps the process running
 */
export async function within<T>(
  work: T | Promise<T>,
  time: number,
  keepsAlive = true,
): Promise<{ value: Awaited<T> } | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, Math.max(1, time), 'late');
    if (!keepsAlive) timer.unref();
  });
  try {
    return await Promise.race([Promise.resolve(work).then((value) => ({ value })), late]);
  } finally {
    clearTimeout(timer);
  }
}
