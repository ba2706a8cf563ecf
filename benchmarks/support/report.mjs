/** The report: `report.md` beside the pictures of its scenarios. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { scenarios } from '../scenarios.mjs';
import { chart, written } from './chart.mjs';

const table = (head, rows) =>
  [head, head.map((_, at) => (at ? '--:' : '---')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const unitOf = ({ unit = 'requests/s' }) => unit;

/** All scenarios, a column for each server. */
function overview(results, running) {
  const cell = (row) => (row?.rate ? written(row.rate) : row ? 'failed' : '–');
  return table(
    ['', ...running.map(({ title }) => title)],
    results.map(({ scenario, rows }) => [
      scenario.unit ? `${scenario.title} (${scenario.unit})` : scenario.title,
      ...running.map((server) => cell(rows.find((row) => row.server === server))),
    ]),
  );
}

function section({ scenario, rows }) {
  const measured = rows.filter(({ rate }) => rate);
  const failed = rows.filter(({ reason }) => reason);
  const own = (database) => measured.find(({ server }) => server.name === 'plugin' && server.database === database);
  /** A server that has one database only is set beside the plugin on SQLite. */
  const ratio = ({ server, rate }) => {
    const plugin = server.databases.length > 1 ? own(server.database) : own('sqlite');
    return plugin && server.name !== 'plugin' ? (plugin.rate / rate).toFixed(2) : '';
  };
  const busy = measured.filter(({ load }) => load > 0.9);
  return [
    `### ${scenario.title}`,
    measured.length > 0 && `![${scenario.title}](images/${scenario.id}.svg)`,
    measured.length > 0 &&
      table(
        ['Server', `${unitOf(scenario)}, median`, 'spread', 'p50, ms', 'p99, ms', 'CPU, ms a request', 'plugin / this'],
        measured.map((row) => [
          row.server.title,
          written(row.rate),
          row.range.map(written).join(' to '),
          row.p50.toFixed(2),
          row.p99.toFixed(2),
          row.cpu.toFixed(2),
          ratio(row),
        ]),
      ),
    ...failed.map(({ server, reason }) => `Failed: ${server.title}: ${reason}`),
    busy.length > 0 &&
      `The load generator was busy for more than 90 % of the time: ${busy.map(({ server }) => server.title).join('; ')} may do more.`,
  ];
}

function method({ options, postgres, pinned, took, date }) {
  const [cpu] = cpus();
  return [
    `Made by \`npm run bench${options.arguments ? ` -- ${options.arguments}` : ''}\` on ${date.slice(0, 10)} in ${Math.round(took / 60)} minutes: ${cpus().length} × ${cpu.model}, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()}, Node.js ${process.versions.node}${typeof postgres === 'string' ? '' : `, PostgreSQL ${postgres.version}`}.`,
    [
      pinned
        ? '- Every server runs with all its processes on core 0, PostgreSQL too; the load (autocannon) runs on core 1.'
        : '- **There is no `taskset`: servers and load share all cores.**',
      `- Ten connections, where the scenario names no other number; ${options.rounds} rounds of ${options.seconds} s for each server, after ${options.warm} s of warming up; before the first scenario each server is read for ${options.first} s. The servers take turns within a round.`,
      '- Requests a second are the median of the rounds, with the lowest and the highest; p50 and p99 the medians of those of the rounds.',
      '- CPU is the processor time of all processes of a server, for servers on PostgreSQL with that of PostgreSQL.',
      '- All servers hold the same records. Their answers are compared before they are measured; an answer that is not 2xx fails the scenario.',
      '- PostgreSQL is a cluster of its own with default settings.',
    ].join('\n'),
  ];
}

function serverTable(running, failed, options) {
  return [
    table(
      ['Server', 'Version', 'Settings', 'MB at the start', 'MB at the end', 'MB at rest'],
      running.map((server) => [
        server.title,
        server.version(),
        server.settings,
        Math.round(server.memory.start),
        Math.round(server.memory.end),
        Math.round(server.memory.rest),
      ]),
    ),
    `MB: resident memory of all processes of the server, without PostgreSQL, before the first scenario, after the last, and ${options.rest} s later.`,
    ...failed.map(({ title, reason }) => `Not measured: ${title}: ${reason}`),
  ];
}

/** Writes the report and its pictures. @param run what bench.mjs found: see there */
export function writeReport(folder, run) {
  const images = join(folder, 'images');
  mkdirSync(images, { recursive: true });
  for (const { id } of scenarios) rmSync(join(images, `${id}.svg`), { force: true });
  for (const { scenario, rows } of run.results) {
    const measured = rows.filter(({ rate }) => rate);
    if (measured.length > 0)
      writeFileSync(join(images, `${scenario.id}.svg`), chart(scenario.title, unitOf(scenario), measured));
  }
  const text = [
    '# Benchmark report',
    ...method(run),
    '## Overview',
    'Requests a second, the median. “–”: the server has nothing for the scenario.',
    overview(run.results, run.running),
    '## Servers',
    ...serverTable(run.running, run.failed, run.options),
    '## Scenarios',
    ...run.results.flatMap(section),
    ...run.parts.flatMap(({ title, command, output }) => [
      `## ${title}`,
      `\`${command}\``,
      `\`\`\`text\n${output.trim()}\n\`\`\``,
    ]),
  ];
  writeFileSync(join(folder, 'report.md'), `${text.filter(Boolean).join('\n\n')}\n`);
}
