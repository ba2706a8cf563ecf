import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repository } from '../../support/theme';
import { promtool } from './prometheus';

/** Alert rules in files that Prometheus reads. */
export const alertRules = path.join(repository, 'deploy', 'prometheus', 'alerts.yml');

/** Series of half an hour, a value a minute in promtool's notation: `a+bxn` grows, `axn` stays. */
type Series = Record<string, string>;

/** When each alert fires, and when it does not yet. */
export const alertCases: [alert: string, fires: Series, quiet: Series][] = [
  ['AppsProcessDown', { 'up{job="apps"}': '1x9 0x20' }, { 'up{job="apps"}': '1x30' }],
  ['AppsNotReady', { 'apps_ready{check="database"}': '0x30' }, { 'apps_ready{check="database"}': '1x30' }],
  [
    'AppsErrors',
    { 'apps_requests_total{status="200"}': '0+94x30', 'apps_requests_total{status="503"}': '0+6x30' },
    { 'apps_requests_total{status="200"}': '0+96x30', 'apps_requests_total{status="503"}': '0+4x30' },
  ],
  [
    'AppsLogicFails',
    { 'apps_runs_total{state="done"}': '0+17x30', 'apps_runs_total{state="failed"}': '0+3x30' },
    { 'apps_runs_total{state="done"}': '0+19x30', 'apps_runs_total{state="failed"}': '0+1x30' },
  ],
  [
    'AppsSlow',
    {
      'apps_request_duration_seconds_bucket{le="1"}': '0+94x30',
      'apps_request_duration_seconds_bucket{le="2.5"}': '0+100x30',
      'apps_request_duration_seconds_bucket{le="+Inf"}': '0+100x30',
    },
    {
      'apps_request_duration_seconds_bucket{le="1"}': '0+96x30',
      'apps_request_duration_seconds_bucket{le="2.5"}': '0+100x30',
      'apps_request_duration_seconds_bucket{le="+Inf"}': '0+100x30',
    },
  ],
  [
    'AppsMainThreadLate',
    { 'apps_main_thread_delay_seconds{part="0.99"}': '0.3x30' },
    { 'apps_main_thread_delay_seconds{part="0.99"}': '0.2x30', 'apps_main_thread_delay_seconds{part="max"}': '2x30' },
  ],
  [
    'AppsSandboxFull',
    { 'apps_sandbox_sessions{state="waiting"}': '2x30' },
    { 'apps_sandbox_sessions{state="waiting"}': '0x28 2 2', 'apps_sandbox_sessions{state="held"}': '9x30' },
  ],
  ['AppsBlockPaused', { apps_paused_blocks: '1x30' }, { apps_paused_blocks: '0x30' }],
  ['AppsRedisAway', { apps_redis_ready: '0x30' }, { apps_redis_ready: '1x30' }],
  ['AppsJobsLate', { apps_jobs_late_seconds: '301x30' }, { apps_jobs_late_seconds: '300x30' }],
  ['AppsJobsGivenUp', { 'apps_jobs{state="dead"}': '1x30' }, { 'apps_jobs{state="waiting"}': '900x30' }],
  [
    'AppsDatabaseFull',
    { 'apps_database_connections{state="waiting"}': '3x30' },
    { 'apps_database_connections{state="used"}': '10x30' },
  ],
  ['AppsLoginsRefused', { apps_refused_logins_total: '0+61x30' }, { apps_refused_logins_total: '0+59x30' }],
];

/** Throws with promtool's output unless these alerts, and no others, fire at the end of the series. */
export async function expectAlerts(file: string, series: Series, alerts: readonly string[]): Promise<void> {
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '30m',
        exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  };
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ rule_files: [alertRules], evaluation_interval: '1m', tests: [test] }));
  promtool(['test', 'rules', file]);
}
