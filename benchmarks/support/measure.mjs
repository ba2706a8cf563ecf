/** Measures a scenario: the servers take turns within a round, so that what disturbs the machine disturbs all of them. */
import { load } from './autocannon.mjs';
import { treeTime } from './process-tree.mjs';
import { median, range } from './statistics.mjs';

const reasonOf = ({ message, cause }) =>
  (cause ? `${message}: ${cause.message}` : message).split('\n')[0].slice(0, 200);

/** What has to be the same on every server, in the answer to the first request. @throws when its status is not 2xx */
async function comparable(server, { id, compare = () => undefined }) {
  const [{ method, path, headers, body }] = server.requests[id];
  const response = await fetch(server.url + path, { method, headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 150)}`);
  return compare(text);
}

/** One turn of a server: its requests a second, latencies, and milliseconds of processor time a request. */
async function turn(server, { id, connections = 10, factor = 1 }, { seconds, postgres }) {
  const pids = [server.pid, ...(server.database === 'postgres' ? [postgres.pid] : [])];
  const [before, ownBefore, began] = [treeTime(pids), process.cpuUsage(), performance.now()];
  const { rate, p50, p99, answers } = await load(server.url, server.requests[id], { connections, seconds });
  const own = process.cpuUsage(ownBefore);
  return {
    rate: rate * factor,
    p50,
    p99,
    cpu: ((treeTime(pids) - before) / answers) * 1000,
    load: (own.user + own.system) / 1000 / (performance.now() - began),
  };
}

function summary(turns) {
  const of = (figure) => turns.map((one) => one[figure]);
  return {
    rate: median(of('rate')),
    range: range(of('rate')),
    p50: median(of('p50')),
    p99: median(of('p99')),
    cpu: median(of('cpu')),
    load: median(of('load')),
  };
}

/**
 * Measures one scenario on the servers that have it.
 * @returns `{scenario, rows}`; a row has `server` and the medians over the rounds, or `server` and the `reason` why there are none
 */
export async function measure(scenario, servers, options) {
  const rows = servers
    .filter(({ requests }) => requests[scenario.id])
    .map((server) => ({ server, turns: [], reason: undefined }));
  const each = async (work) => {
    for (const row of rows) {
      if (row.reason) continue;
      try {
        await work(row);
      } catch (error) {
        row.reason = reasonOf(error);
      }
    }
  };
  let { expected } = scenario;
  await each(async ({ server }) => {
    const found = await comparable(server, scenario);
    expected ??= found;
    if (found !== expected) throw new Error(`answers with ${found}, not with ${expected}`);
    await load(server.url, server.requests[scenario.id], {
      connections: scenario.connections ?? 10,
      seconds: options.warm,
    });
  });
  for (let round = 0; round < options.rounds; round += 1)
    await each(async ({ server, turns }) => void turns.push(await turn(server, scenario, options)));
  return {
    scenario,
    rows: rows.map(({ server, turns, reason }) => (reason ? { server, reason } : { server, ...summary(turns) })),
  };
}

/** Gives every server some seconds of reads, so that its code is compiled before the first scenario. */
export async function warmUp(servers, seconds) {
  // A server that fails here fails its scenarios too, with the reason.
  for (const { url, requests } of servers) await load(url, requests.get, { connections: 10, seconds }).catch(() => {});
}
