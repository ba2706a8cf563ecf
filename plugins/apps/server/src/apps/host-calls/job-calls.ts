import type { Items } from '../../../../shared/json';
import { authorityOf } from '../../auth';
import { AppsError } from '../../common/errors';
import { didYouMean } from '../../common/text';
import type { NewJob } from '../../jobs/types';
import type { HostArguments } from '../../logic/types';
import type { OutboundRequest } from '../../outbound/types';
import { callOut } from '../run/calls-out';
import { originalOf } from '../run/observed';
import { keyOf } from '../run/run';
import type { Run, Visit } from '../run/types';
import type { App } from '../types';
import type { HostCallHandlers } from './logic-host';

/** How a secret is named (docs/reference/calls-out.md#secrets). */
const SECRET = '{{secret:';

/** The host function for calls out. */
export function fetchCalls(run: Run): Pick<HostCallHandlers, 'fetch'> {
  return {
    fetch(args) {
      const { visit, app } = run;
      // What a web service says may change at any time.
      visit.inputs?.refuse('fetch');
      const request = requestOf(visit, args);
      requireReading(visit, request);
      return run.calls.once(JSON.stringify([app.id, request]), () => callOut(run, request));
    },
  };
}

/**
 * The call to send: an object or a list is JSON, and says so unless the call itself says what it is. BadRequestError where
 * a visitor has named a secret.
 */
function requestOf(visit: Visit, { url, options }: HostArguments<'fetch'>): OutboundRequest {
  const { method = 'GET', headers = {}, body = null, timeout = null } = options;
  const isText = body === null || typeof body === 'string';
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const request: OutboundRequest = {
    url,
    method,
    headers: isText || hasType ? headers : { ...headers, 'content-type': 'application/json' },
    body: isText ? body : JSON.stringify(body),
    timeout,
  };
  requireOwnSecrets(visit, request);
  return request;
}

/** A call that may change something elsewhere is refused while writes are switched off, as changes of content are. */
function requireReading({ dry }: Visit, { method }: OutboundRequest): void {
  if (!dry || ['GET', 'HEAD'].includes(method.toUpperCase())) return;
  throw new AppsError('ForbiddenError', `Writes are switched off: a call with ${method.slice(0, 20)} was not made`);
}

/**
 * BadRequestError for a call with a secret whose request, or that of the page around an embedded block, holds the name of one: what a
 * visitor has sent must not become a secret in a text that others read.
 */
function requireOwnSecrets({ request, parentRequest, params }: Visit, { headers, body }: OutboundRequest): void {
  if (![body, ...Object.values(headers)].some((text) => text?.includes(SECRET))) return;
  const sent = [originalOf(request), parentRequest && originalOf(parentRequest), params];
  if (JSON.stringify(sent).includes(SECRET))
    throw new AppsError('BadRequestError', `What was sent holds "${SECRET}": no secret is put into this call`);
}

/** Jobs that the logic of one request adds. */
const MAX_JOBS = 100;

/** Characters of a job's parameters as JSON, and of its key. */
const MAX_PARAMS = 256_000;
const MAX_KEY = 200;
const MAX_NAME = 255;

/** Seconds: a job that is due later than in a year is a mistake. */
const MAX_DELAY = 366 * 24 * 60 * 60;

/** When a job is due, at most one of the two: after `delay` seconds, or `at` a moment in ISO 8601. */
interface JobTime {
  delay?: number | undefined;
  at?: string | undefined;
}

const wrong = (message: string): AppsError => new AppsError('BadRequestError', `jobs.add: ${message}`);

/** A date and a time with its offset from UTC: without one it would be that of the server. */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

/** Milliseconds since the epoch; null: at once. BadRequestError for a time that is none, or too far away. */
function dueAtOf({ delay, at }: JobTime, now: number): number | null {
  if (delay !== undefined && at !== undefined) throw wrong('give "delay" or "at", not both');
  if (delay !== undefined) {
    if (!(delay >= 0 && delay <= MAX_DELAY)) throw wrong(`"delay" must be from 0 to ${MAX_DELAY} seconds`);
    return delay === 0 ? null : now + Math.round(delay * 1_000);
  }
  if (at === undefined) return null;
  const time = MOMENT.test(at) ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(time)) throw wrong('"at" must be a moment like 2030-01-31T06:00:00Z');
  if (time > now + MAX_DELAY * 1_000) throw wrong('"at" must be within a year');
  return time;
}

/** A call of a function of a block, later (docs/reference/jobs.md). */
export interface JobRequest extends JobTime {
  key: NewJob['key'];
  block: string;
  /** The name of the function. */
  name: string;
  params: Items;
  /** Whose rights the job has, as of `authorityOf`. */
  requester: string;
  /** Ids of the rules that have led to the job, which it does not trigger again. */
  rules: readonly number[];
  /** The key that makes it once. */
  once: string | null;
}

/** The job for a call of a function. BadRequestError for an unknown block, wrong times, and for what is too long. */
export function functionJob(app: App, request: JobRequest, now = Date.now()): NewJob {
  const { key, block, name, params, requester, rules, once } = request;
  if (!app.blocks.get(block)?.logic) {
    const known = [...app.blocks.values()].flatMap(({ id, logic }) => (logic ? [id] : []));
    throw wrong(`the app "${app.id}" has no block "${block}" with logic${didYouMean(block, known)}`);
  }
  if (JSON.stringify(params).length > MAX_PARAMS)
    throw wrong(`the parameters have at most ${MAX_PARAMS} characters as JSON`);
  if (once !== null && (once === '' || once.length > MAX_KEY || once.includes('\0')))
    throw wrong(`"key" must have 1 to ${MAX_KEY} characters`);
  return {
    key,
    kind: 'function',
    name: `${block}/${name}`,
    data: { block, function: name, params, ...(rules.length > 0 && { rules: [...rules] }) },
    requester,
    jobKey: once === null ? null : `function:${once}`,
    sequence: null,
    dueAt: dueAtOf(request, now),
  };
}

const TARGET = /^([^/]+)\/([A-Za-z_$][\w$]*)$/;

/** The handlers of `context.jobs.add` and `context.jobs.fetch`. */
export function jobCalls(run: Run): Pick<HostCallHandlers, 'addJob' | 'addFetch'> {
  const { visit, app, unit, services, jobs } = run;
  const add = (job: NewJob): Promise<string> => {
    if (!visit.writes.records)
      throw new AppsError('CsrfError', 'Adding a job during a GET request needs a valid X-CSRF-TOKEN header');
    if (jobs.length >= MAX_JOBS) throw wrong(`a request adds at most ${MAX_JOBS} jobs`);
    jobs.push(job);
    return services.jobs.add(unit, job);
  };
  return {
    async addJob({ target, params, options }) {
      const [, block, name] = TARGET.exec(target) ?? [];
      if (!block || !name) throw wrong(`"${target}" is not a function's name, <block>/<function>`);
      const { key = null, delay, at } = options;
      const requester = authorityOf(visit.requester);
      const rules = services.rulesOf(originalOf(visit.requester));
      const job = functionJob(app, {
        key: keyOf(run),
        block,
        name,
        params: params ?? {},
        requester,
        rules,
        once: key,
        delay,
        at,
      });
      return add(job);
    },
    async addFetch(args) {
      const request = requestOf(visit, args);
      services.outbound.check(app.id, request);
      const { url, method, headers, body, timeout } = request;
      if ((body?.length ?? 0) > MAX_PARAMS) throw wrong(`the body has at most ${MAX_PARAMS} characters`);
      return add({
        key: keyOf(run),
        kind: 'fetch',
        name: new URL(url).host.slice(0, MAX_NAME),
        data: { url, method, headers, body, timeout },
        requester: authorityOf(visit.requester),
        jobKey: null,
        sequence: null,
        dueAt: null,
      });
    },
  };
}
