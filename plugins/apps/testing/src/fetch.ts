import type { FetchAnswer, FetchCall, FetchFixtures } from '../index';
import type { Answerer } from './plugin';

type Given = FetchAnswer | ((call: FetchCall) => FetchAnswer);

/** Web services in tests: answers by addresses, for one test. */
export interface FakeServices {
  fixtures: FetchFixtures;
  answerer: Answerer;
  reset(): void;
}

export function createServices(): FakeServices {
  const answers: { url: string; answer: Given }[] = [];
  const calls: FetchCall[] = [];
  return {
    fixtures: {
      get calls() {
        return [...calls];
      },
      answer(url, answer) {
        // The latest answer of an address counts.
        answers.unshift({ url, answer });
      },
    },
    answerer(_app, { url, method, headers, body }) {
      const call = { url, method: method.toUpperCase(), headers, body };
      calls.push(call);
      const found = answers.find((one) => matches(one.url, url));
      if (!found) return null;
      return sent(typeof found.answer === 'function' ? found.answer(call) : found.answer);
    },
    reset() {
      answers.length = 0;
      calls.length = 0;
    },
  };
}

/** @param wanted an address, or the beginning of one and `*` */
const matches = (wanted: string, url: string): boolean =>
  wanted.endsWith('*') ? url.startsWith(wanted.slice(0, -1)) : wanted === url;

function sent(answer: FetchAnswer): NonNullable<ReturnType<Answerer>> {
  const { status = 200, headers = {}, body = '' } = answer;
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (typeof body === 'string') return { status, headers: lower, text: body };
  return { status, headers: { 'content-type': 'application/json', ...lower }, text: JSON.stringify(body) };
}
