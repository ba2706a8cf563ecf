import { randomBytes } from 'node:crypto';
import { MAX_RANDOM, type OwnCall, ownLimits, type UrlParts, urlParts, workOf } from './own-calls';

const settable = new Set<string>(urlParts.filter((name) => name !== 'origin'));

/**
 * Answers the own calls of one session (`own-calls.ts`): JSON text in and out. Null for text that is no such call, and over
 * the limits, which the prelude keeps: the sandbox is then broken.
 */
export function createOwnAnswers(): (data: string) => string | null {
  let [calls, work] = [0, 0];
  return (data) => {
    const call = readCall(data);
    if (!call) return null;
    calls += 1;
    work += workOf(call);
    if (calls > ownLimits.calls || work > ownLimits.work) return null;
    return JSON.stringify(answerOf(call));
  };
}

function answerOf(call: OwnCall): UrlParts | string | null {
  if (call[0] === 'random') return randomBytes(call[1]).toString('base64');
  try {
    if (call[0] === 'url') return partsOf(new URL(call[1], call[2] ?? undefined));
    const url = new URL(call[1]);
    url[call[2] as 'href'] = call[3];
    return partsOf(url);
  } catch {
    return null;
  }
}

const partsOf = (url: URL): UrlParts => urlParts.map((name) => url[name]);

const isText = (value: unknown): value is string => typeof value === 'string';

function readCall(data: string): OwnCall | null {
  let call: unknown;
  try {
    call = JSON.parse(data);
  } catch {
    return null;
  }
  if (!Array.isArray(call)) return null;
  const [name, ...args] = call as unknown[];
  const [first, second, third] = args;
  const isCall =
    (name === 'url' && isText(first) && (second === null || isText(second))) ||
    (name === 'urlPart' &&
      args.every(isText) &&
      args.length === 3 &&
      settable.has(second as string) &&
      isText(third)) ||
    (name === 'random' && Number.isInteger(first) && (first as number) >= 0 && (first as number) <= MAX_RANDOM);
  return isCall ? (call as OwnCall) : null;
}
