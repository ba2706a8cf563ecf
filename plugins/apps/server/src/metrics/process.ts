import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Milliseconds between two looks at how late the main thread is. */
const RESOLUTION = 20;

const NANOSECONDS = 1e9;

/** The parts of the delay since the last scrape that are shown. */
const quantiles = [0.5, 0.9, 0.99] as const;

/**
 * Metrics of the process under Prometheus's usual names, and how late its main thread is, since the last scrape.
 * @returns ends the measurement
 */
export function processMetrics(registry: Registry): () => void {
  const registers = [registry];
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process has started, in seconds since 1970',
    registers,
    collect() {
      this.set(Math.round(Date.now() / 1000 - process.uptime()));
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process, without its runners',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  let spent = 0;
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, without its runners',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      const now = (user + system) / 1e6;
      this.inc(Math.max(0, now - spent));
      spent = now;
    },
  });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  new Gauge({
    name: 'apps_main_thread_delay_seconds',
    help: 'How late the main thread was since the last scrape; part "max" is the longest delay',
    labelNames: ['part'],
    registers,
    collect() {
      const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION / 1000) || 0;
      for (const quantile of quantiles) this.set({ part: quantile }, late(delay.percentile(quantile * 100)));
      this.set({ part: 'max' }, late(delay.max));
      delay.reset();
    },
  });
  return () => void delay.disable();
}
