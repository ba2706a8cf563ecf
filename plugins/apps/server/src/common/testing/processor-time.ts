/**
 * Milliseconds that a work takes on this process's processor, as far as it has one: a bound that is measured so does not fail
 * because the machine was busy with other processes.
 */
export async function processorTime(work: () => unknown): Promise<number> {
  const [begin, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return Math.min(performance.now() - begin, (user + system) / 1000);
}
