/** Measurements that are programs of their own, run one after the other. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const benchmarks = dirname(dirname(fileURLToPath(import.meta.url)));

/** Part of each report, unless it has some of the scenarios only. */
const jobs = {
  title: 'Jobs beside pg-boss',
  file: 'jobs.mjs',
  args: ['--jobs', '1000', '--rounds', '5'],
};

/** Those of the plugin by itself. */
const parts = [
  { title: 'Start and memory beside Strapi without the plugin', file: 'boot.mjs', args: ['3'] },
  { title: 'What logic costs', file: 'logic.mjs', args: ['--rounds', '2', '--seconds', '1'] },
  { title: 'What a block costs a page', file: 'site.mjs', args: ['200'] },
  {
    title: 'The store at scale',
    file: 'records.mjs',
    args: ['--records', '50000', '--rounds', '2', '--seconds', '1'],
  },
  { title: 'Memory while a file of 100 MB is uploaded', file: 'uploads.mjs', args: ['100'] },
];

export const measureJobs = (say) => measureEach([jobs], say);
export const measureParts = (say) => measureEach(parts, say);

/** @returns for each part `{title, command, output}`; one that fails has its last lines as output */
function measureEach(wanted, say) {
  return wanted.map(({ title, file, args }) => {
    say(`\n${title}`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(benchmarks, file), ...args], {
      encoding: 'utf8',
    });
    const output = status === 0 ? stdout : `failed: ${stderr.trim().split('\n').slice(-5).join('\n')}`;
    say(output);
    return { title, command: `node benchmarks/${file} ${args.join(' ')}`, output };
  });
}
