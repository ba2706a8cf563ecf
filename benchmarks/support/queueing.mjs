/**
 * A queueing model of server processes: a closed network, simulated event by event. It knows nothing of the plugin but the
 * processor time that a request takes in each process.
 */

/** Milliseconds of requests that are simulated before anything is counted, as a part of all. */
const WARM = 0.2;

/** A generator of numbers from 0 to 1 that gives the same ones for the same seed (mulberry32). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Shares of the processors for threads that want to run: in proportion to their weights, none more than one processor. What
 * a thread at its bound leaves goes to the others, as the scheduler of Linux does.
 * @param threads `{weight}` each
 * @returns processors of each, in their order
 */
export function sharesOf(threads, processors) {
  const shares = new Array(threads.length).fill(0);
  let open = threads.map((_, at) => at);
  let left = Math.min(processors, threads.length);
  while (open.length > 0) {
    const weight = open.reduce((sum, at) => sum + threads[at].weight, 0);
    const full = open.filter((at) => (left * threads[at].weight) / weight >= 1);
    for (const at of full.length > 0 ? full : open)
      shares[at] = full.length > 0 ? 1 : (left * threads[at].weight) / weight;
    if (full.length === 0) break;
    left -= full.length;
    open = open.filter((at) => !full.includes(at));
  }
  return shares;
}

/**
 * Simulates clients that each send their next request as soon as they have an answer.
 * @param model
 *   `clients`: their number; each stays with one server process
 *   `pools`: sets of processors `{processors, others}`; `others` are threads that always want to run, as weights
 *   `stations`: by name, `{pool, threads, weight}`: work in the order of arrival on so many threads (Infinity: one a request)
 *   `routes`: one a server process, each a list of `{station, milliseconds}` that a request walks
 *   `seconds`: how long, simulated
 * @returns answers a second, and the mean milliseconds of an answer
 */
export function simulate({ clients, pools, stations, routes, seconds, seed = 1 }) {
  const next = random(seed);
  const running = new Map(Object.keys(stations).map((name) => [name, { threads: [], queue: [] }]));
  const enter = (client, now) => {
    const { station, milliseconds } = client.route[client.step];
    // Requests are not all alike: half to one and a half of the mean.
    const work = { client, left: milliseconds * (0.5 + next()), weight: stations[station].weight };
    const { threads, queue } = running.get(station);
    if (threads.length < stations[station].threads) threads.push(work);
    else queue.push(work);
    if (client.step === 0) client.began = now;
  };
  for (let at = 0; at < clients; at += 1) enter({ route: routes[at % routes.length], step: 0 }, 0);
  const end = seconds * 1000;
  let [now, answers, waited] = [0, 0, 0];
  while (now < end) {
    const { first, rates } = soonest(pools, stations, running);
    for (const [work, rate] of rates) work.left -= rate * first;
    now += first;
    for (const { threads, queue } of running.values())
      for (const work of threads.filter(({ left }) => left <= 1e-9)) {
        threads.splice(threads.indexOf(work), 1, ...queue.splice(0, 1));
        const { client } = work;
        client.step = (client.step + 1) % client.route.length;
        if (client.step === 0 && now > end * WARM) {
          answers += 1;
          waited += now - client.began;
        }
        enter(client, now);
      }
  }
  return { rate: answers / (seconds * (1 - WARM)), mean: waited / answers };
}

/** The time until the next work is done, and the share of a processor that each work has until then. */
function soonest(pools, stations, running) {
  const rates = new Map();
  for (const [pool, { processors, others = [] }] of Object.entries(pools)) {
    const works = [...running].filter(([name]) => stations[name].pool === pool).flatMap(([, { threads }]) => threads);
    const shares = sharesOf([...works, ...others.map((weight) => ({ weight }))], processors);
    for (const [at, work] of works.entries()) rates.set(work, shares[at]);
  }
  const first = Math.min(...[...rates].map(([{ left }, rate]) => left / rate));
  return { first, rates };
}
