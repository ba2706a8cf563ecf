import type { Attack, AttackArena, HealthyRequest } from './attack';

const everyone = "acl:\n  rights:\n    editor: ['*']\n    submitter: ['*']\n";

/** What visitors may call without end: each request adds as many jobs, keys or records with webhooks as it may. */
const flood = `
export function f({ jobs }) {
  for (let n = 0; n < 100; n += 1) jobs.add('flood/work', { n });
}
export function keys({ jobs }) {
  for (let n = 0; n < 100; n += 1) jobs.add('flood/work', { n }, { key: 'x'.repeat(160) + Math.random(), delay: 3_600 });
}
export function records({ app }) {
  for (let n = 0; n < 50; n += 1) app.create_record().save({ n });
}
export function work({ params }) { return params.n; }
`;

/** Another app, whose jobs must go on: it refuses a request when the job of an earlier one has waited for longer than ten seconds. */
const beats = `
export function f({ app, jobs }) {
  const late = app.get_record('asked');
  const done = app.get_record('done');
  if (late && late.at > (done ? done.at : 0)) {
    if (Date.now() - late.at > 10_000) throw new Error('its job waits');
    return;
  }
  const at = Date.now();
  (late || app.create_record('asked')).save({ at });
  jobs.add('beats/beat', { at });
}
export function beat({ app, params }) {
  const done = app.get_record('done') || app.create_record('done');
  done.save({ at: params.at });
}
`;

const files = {
  'apps/flood/settings.yaml': `${everyone}webhooks:\n  hook: { url: 'https://hooks.example.org/', events: [create] }\n`,
  'apps/flood/blocks/flood.js': flood,
  'apps/flood/blocks/flood.yaml': 'elements: { f: BASIC, keys: BASIC, records: BASIC }\n',
  'apps/beats/settings.yaml': everyone,
  'apps/beats/blocks/beats.js': beats,
  'apps/beats/blocks/beats.yaml': 'elements: { f: BASIC }\n',
};

/** Asks for a job of the other app, which must have been done since. */
const beat: HealthyRequest = { method: 'POST', path: '/site/@@apps/beats/blocks/beats/f', json: {} };

/** Deletes what an earlier attack has left to be done. */
async function prepare({ host }: Pick<AttackArena, 'host'>): Promise<void> {
  await host.run(async (strapi) => {
    await strapi.db.query('plugin::apps.job').deleteMany({ where: { app: 'flood', state: 'waiting' } });
  });
}

/** Answers to the attacker: the sandbox has no room and no time for all of these requests at once, and ten thousand jobs of an app may wait. */
const refused = {
  status: [200, 429, 503, 504],
  has: /^(null|.*wait already.*|.*sandbox is busy.*|.*ran longer than.*)$/s,
};

const by = (name: string, requests: number, more: Partial<Attack> = {}): Attack => ({
  name: `jobs-${name}`,
  files,
  prepare,
  healthy: [beat],
  requests: Array.from({ length: requests }, () => ({ path: `/site/@@apps/flood/blocks/flood/${name}` })),
  ...refused,
  within: 60_000,
  ...more,
});

/** Jobs of one app without end: those of another go on. */
export const jobs: readonly Attack[] = [by('f', 160, { short: true }), by('keys', 160), by('records', 60)];
