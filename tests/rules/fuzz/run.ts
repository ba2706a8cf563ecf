import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Stage } from '../../support/stage';
import { type AppName, apps } from './apps';
import { brokenByChange, brokenRules, doubleCodes, refusedNames, type Stored } from './model';
import { createRandom, type Random } from './random';
import { type Attempt, people, ways } from './ways';

/** Records of an app at which all are deleted, so that a comparison of all takes little time. */
const MAX_RECORDS = 25;

/** How many requests of a way have succeeded, and how many were refused. */
export type Counts = Record<string, { done: number; refused: number }>;

/** All records of an app, read from the database. */
async function snapshot({ host }: Stage, app: AppName): Promise<Stored[]> {
  const rows = await host.run(
    (strapi, app) =>
      strapi.db
        .connection('apps_records')
        .where({ app })
        .orderBy('id')
        .select('identifier', 'items', 'creator', 'version'),
    app,
  );
  return rows.map(({ identifier, items, creator, version }: Record<string, never>) => ({
    id: String(identifier),
    items: JSON.parse(String(items)),
    creator: creator || null,
    version: Number(version),
  }));
}

/** Records that differ, as they were and as they are. */
const written = (before: readonly Stored[], after: readonly Stored[]) => ({
  before: before.filter((record) => !after.some((one) => isDeepStrictEqual(one, record))),
  after: after.filter((record) => !before.some((one) => isDeepStrictEqual(one, record))),
});

interface Step {
  app: AppName;
  way: string;
  attempt: Attempt;
  before: readonly Stored[];
  after: readonly Stored[];
  isDone: boolean;
  status: number;
  identity: string | null;
}

/** Ways whose requests are the JSON interface's. */
const json = new Set(['create', 'createById', 'patch', 'post', 'move', 'increment', 'bulk', 'ndjson', 'remove']);

/** Whether a requester may do this to a record, as `acl` and `json` of the app say. */
function isGranted({ app, way, attempt: { as }, identity }: Step, record: Stored | null): boolean {
  if (way === 'logic' || as === 'clerk' || as === 'eric') return true;
  const submits = as === 'anonymous' || as === 'sam' || as === 'una';
  if (record === null) return !(submits && app === 'strict' && json.has(way));
  return as !== 'anonymous' && as !== 'sam' && record.creator === identity;
}

/** What is wrong with the records after a request. */
function faults(step: Step): string[] {
  const { app, way, before, after, attempt, isDone, status, identity } = step;
  const old = new Map(before.map((record) => [record.id, record]));
  const left = new Set(after.map(({ id }) => id));
  const created = after.filter(({ id }) => !old.has(id));
  const changed = after.filter((record) => old.has(record.id) && !isDeepStrictEqual(record, old.get(record.id)));
  const removed = before.filter(({ id }) => !left.has(id));
  const found = [created, changed, removed].map((list) => list.map(({ id }) => id));
  if (status >= 500) return [`the status is ${status}`];
  if (!isDone) return found.flat().length > 0 ? [`refused, but ${JSON.stringify(found)} were written`] : [];

  const problems: string[] = [];
  const { effect, as } = attempt;
  const sees = (record: Stored) =>
    ['clerk', 'eric', 'anna', 'abel'].includes(as) || (as === 'una' && record.creator === identity);
  const counts: Record<typeof effect.kind, boolean> = {
    create: effect.kind === 'create' && created.length === effect.count && changed.length + removed.length === 0,
    change: 'id' in effect && isDeepStrictEqual(found, [[], [effect.id], []]),
    delete: 'id' in effect && isDeepStrictEqual(found, [[], [], [effect.id]]),
    save: created.length + changed.length <= 1 && removed.length === 0,
  };
  if (!counts[effect.kind]) problems.push(`succeeded, but ${JSON.stringify(found)} were written`);
  if (effect.kind === 'create' && effect.id !== undefined && created[0]?.id !== effect.id)
    problems.push('the id is not the one of the address');
  for (const record of [...created, ...changed, ...removed]) {
    if (!isGranted(step, old.get(record.id) ?? null)) problems.push(`${as} may not do this to "${record.id}"`);
  }
  for (const record of created) if (record.creator !== identity) problems.push(`the creator is ${record.creator}`);
  for (const record of [...created, ...changed]) {
    const mayMove = as === 'eric' || as === 'clerk';
    const change = { app, before: old.get(record.id) ?? null, after: record, all: after, sees, mayMove };
    for (const what of [...brokenRules(app, record), ...brokenByChange(change)])
      problems.push(`"${record.id}": not so: ${what}`);
  }
  const ignored = (attempt.sent ?? []).flatMap((items) => refusedNames(items, way === 'jsonForm'));
  if (app !== 'free' && ignored.length > 0) problems.push(`succeeded, although ${ignored} were sent`);
  if (doubleCodes(after).length > 0) problems.push(`codes are there twice: ${doubleCodes(after)}`);
  return problems;
}

/** A way, by its weight. */
function pickWay(random: Random): string {
  const list = Object.entries(ways).flatMap(([name, [weight]]) => Array.from({ length: weight }, () => name));
  return random.pick(list);
}

/** What a person finds of an app: own records of the owner, all of others, or none. */
async function checkReading(
  stage: Stage,
  as: string,
  app: AppName,
  records: readonly Stored[],
  identity: string | null,
) {
  const { status, json } = await stage.send<{ id: string }[]>({ as, send: `GET ${app}/records` });
  const found = status === 200 ? json.map(({ id }) => id) : [];
  const seen = { anonymous: [], sam: [], una: records.filter(({ creator }) => creator === identity) };
  const expected = as in seen ? seen[as as keyof typeof seen] : records;
  expect([...found].sort(), `what ${as} reads of ${app}`).toEqual(expected.map(({ id }) => id).sort());
}

/** Identities of the people, as records name their creators. */
async function identities(stage: Stage): Promise<Record<string, string | null>> {
  const known: Record<string, string | null> = { anonymous: null };
  for (const as of [...people, 'clerk'].filter((one) => one !== 'anonymous')) {
    const id = `identity-${as}`;
    if (as === 'clerk') {
      await stage.send({ as, send: 'POST /apps/sites/site/apps/free/record', json: { id, items: {} } });
    } else await stage.put('free', id, {}, as);
    known[as] = (await snapshot(stage, 'free')).find((record) => record.id === id)?.creator ?? null;
  }
  await stage.send({ as: 'eric', send: 'DELETE free/records' });
  return known;
}

/**
 * Sends random requests and compares the records after each with the model; throws at the first that breaks it, with the seed.
 * @param goesOn whether another request is sent, by how many were
 */
export async function fuzz(stage: Stage, seed: number, goesOn: (sent: number) => boolean): Promise<Counts> {
  const random = createRandom(seed);
  const identityOf = await identities(stage);
  const counts: Counts = Object.fromEntries(Object.keys(ways).map((way) => [way, { done: 0, refused: 0 }]));
  const stored = new Map<AppName, Stored[]>(apps.map((app) => [app, []]));
  for (let sent = 0; goesOn(sent); sent += 1) {
    const app = random.pick(apps);
    let before = stored.get(app) ?? [];
    if (before.length > MAX_RECORDS) {
      await stage.send({ as: 'eric', send: `DELETE ${app}/records` });
      before = [];
    }
    const way = pickWay(random);
    const attempt = ways[way]?.[1]({ stage, random, app, records: before, identityOf });
    if (!attempt) continue;
    const { isDone, status, text } = await attempt.send();
    const after = await snapshot(stage, app);
    stored.set(app, after);
    const identity = identityOf[attempt.as] ?? null;
    const problems = faults({ app, way, attempt, before, after, isDone, status, identity });
    const { as, shown } = attempt;
    const about = { seed, sent, app, way, as, shown, status, text: text.slice(0, 500), ...written(before, after) };
    expect(problems, JSON.stringify(about)).toEqual([]);
    const count = counts[way];
    if (count) count[isDone ? 'done' : 'refused'] += 1;
    if (random.chance(0.1)) {
      const reader = random.pick(people);
      await checkReading(stage, reader, app, after, identityOf[reader] ?? null);
    }
  }
  return counts;
}
