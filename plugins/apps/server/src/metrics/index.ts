import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { within } from '../common/time/pace';

/** Apps that have series of their own in a process; those beyond are counted together as `other`. */
export const MAX_APPS = 100;

/** The app that an observation is about; null: none, or none that exists. */
type About = { site: string; app: string } | null;

/** Labels of an app. */
type AppLabels = { site: string; app: string };

/** Statuses with a series of their own: those of the plugin itself. Logic may set others, which are counted by their hundred. */
const statuses = new Set([
  ...[200, 201, 204, 206, 303, 304],
  ...[400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 429],
  ...[500, 502, 503, 504],
]);

/** The label of a status, e.g. `404` or `4xx`. */
const statusLabel = (status: number): string =>
  statuses.has(status) ? String(status) : `${Math.floor(status / 100)}xx`;

/** Makes labels of apps. Only apps that were found may be given: no label is made of an address. */
function appLabels(max = MAX_APPS): (about: About) => AppLabels {
  const known = new Map<string, AppLabels>();
  const none = { site: '', app: '' };
  return (about) => {
    if (!about) return none;
    const { site, app } = about;
    const key = `${site}/${app}`;
    const labels = known.get(key);
    if (labels) return labels;
    if (known.size >= max) return { site, app: 'other' };
    const made = { site, app };
    known.set(key, made);
    return made;
  };
}

/** Milliseconds between two looks at how late the main thread is. */
const RESOLUTION = 20;

const NANOSECONDS = 1e9;

/** The parts of the delay since the last scrape that are shown. */
const quantiles = [0.5, 0.9, 0.99] as const;

/**
 * Metrics of the process under Prometheus's usual names, and how late its main thread is, since the last scrape.
 * @returns ends the measurement
 */
function processMetrics(registry: Registry): () => void {
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

export { openTelemetry } from './spans';

/** Upper bounds of durations, in seconds. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const JOB_DURATIONS = [0.01, 0.1, 0.5, 1, 5, 30, 120];

/**
 * Milliseconds for which one scrape waits for a number of the moment: a database that hangs must not hide the rest. More than the checks
 * of readiness take, which are such numbers.
 */
export const READ_TIME = 3_000;

const seconds = (milliseconds: number) => milliseconds / 1000;

/** Counts what happens in this process, for Prometheus. Series are bounded by the apps that have labels of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const app = ['site', 'app'];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `apps_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[], buckets = DURATIONS) =>
    new Histogram({ name: `apps_${name}`, help, labelNames, buckets, registers });

  const requests = counter('requests_total', 'Answers at addresses of the plugin', [...app, 'status']);
  const requestTimes = histogram('request_duration_seconds', 'Time until an answer begins', app);
  const runs = counter('runs_total', 'Runs of logic, by how they have ended', [...app, 'state']);
  const runTimes = histogram('run_duration_seconds', 'Time of a run, its attempts and waits included', app);
  const hostCalls = counter('host_calls_total', 'Host calls of logic', app);
  const retries = counter('retries_total', 'Attempts of requests after the first: collisions, lost runners', app);
  const waits = histogram('wait_seconds', 'Time that work has waited for its turn', ['for']);
  const renderings = counter('renderings_total', 'Renderings, by whether a kept one was served', [
    ...app,
    ...['kind', 'result'],
  ]);
  const jobs = counter('job_tries_total', 'Tries of jobs, by how they have ended', [...app, 'kind', 'result']);
  const jobTimes = histogram('job_duration_seconds', 'Time of a try of a job', ['kind'], JOB_DURATIONS);
  const logins = counter('refused_logins_total', 'Logins that were refused', ['result']);
  const endProcess = processMetrics(registry);
  const labelsOf = appLabels();

  return {
    labelsOf,
    request(about, status, time) {
      const labels = labelsOf(about);
      const { site, app } = labels;
      requests.inc({ site, app, status: statusLabel(status) });
      requestTimes.observe(labels, seconds(time));
    },
    run(about, state, time, calls) {
      const labels = labelsOf(about);
      const { site, app } = labels;
      runs.inc({ site, app, state });
      runTimes.observe(labels, seconds(time));
      if (calls > 0) hostCalls.inc(labels, calls);
    },
    retry: (about) => retries.inc(labelsOf(about)),
    wait: (what, time) => waits.observe({ for: what }, seconds(time)),
    rendering(about, kind, result) {
      const { site, app } = labelsOf(about);
      renderings.inc({ site, app, kind, result });
    },
    job(about, kind, result, time) {
      const { site, app } = labelsOf(about);
      jobs.inc({ site, app, kind, result });
      jobTimes.observe({ kind }, seconds(time));
    },
    login: (result) => logins.inc({ result }),
    add(reading) {
      const { name, help, labels = [] } = reading;
      new Gauge({
        name: `apps_${name}`,
        help,
        labelNames: [...labels],
        registers,
        collect() {
          return read(this, reading);
        },
      });
    },
    async text() {
      return { type: registry.contentType, body: await registry.metrics() };
    },
    destroy: endProcess,
  };
}

/** Labels that are together in a reading twice are summed up: apps beyond the bound have the same. */
async function read(gauge: Gauge, { read: values, labels = [] }: Reading): Promise<void> {
  const found = await within(
    values().catch(() => null),
    READ_TIME,
  );
  // Not before: the values of another scrape that reads meanwhile would be added to these.
  gauge.reset();
  if (found === 'late' || found.value === null) {
    // A gauge without labels would show 0.
    if (labels.length === 0) gauge.remove();
    return;
  }
  for (const [labels, value] of found.value) gauge.inc(labels, value);
}

/** For what a request has waited. */
type WaitFor = 'sandbox' | 'calls_out' | 'search';

/** How a try of a job has ended. */
type JobResult = 'done' | 'failed' | 'dead';

/** Receives what happens in the server. Times are milliseconds. */
export interface Observations {
  /** An answer has begun. */
  request(about: About, status: number, time: number): void;
  /** A run of logic has ended. */
  run(about: About, state: string, time: number, hostCalls: number): void;
  /** A request runs once more, because of a collision or a lost runner. */
  retry(about: About): void;
  wait(what: WaitFor, time: number): void;
  /** A rendering was a kept one (`hit`), is kept now (`miss`), or cannot be kept (`none`). */
  rendering(about: About, kind: string, result: 'hit' | 'miss' | 'none'): void;
  job(about: About, kind: string, result: JobResult, time: number): void;
  /** A login was refused: the password was wrong, or too many were. */
  login(result: 'failed' | 'limited'): void;
}

/** A number of the moment, read when metrics are asked for. */
export interface Reading {
  name: string;
  help: string;
  labels?: readonly string[];
  /** Rejects where it cannot be read: the metric is left out then. */
  read(): Promise<readonly (readonly [labels: Record<string, string>, value: number])[]>;
}

/** Metrics of one server process (docs/operate/monitoring.md). */
export interface Metrics extends Observations {
  /** Adds numbers of the moment. */
  add(reading: Reading): void;
  /** The labels of an app, for `Reading`s. */
  labelsOf(about: About): { site: string; app: string };
  /** All metrics in Prometheus's text format, and its media type. */
  text(): Promise<{ type: string; body: string }>;
  destroy(): void;
}
