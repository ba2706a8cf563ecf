/**
 * An attack on the server's own thread: files that a theme author may write and requests that a visitor may send. The
 * attacks of one subject stand in one file of this folder, which exports a list of them; `index.ts` names every list.
 * `HOSTILE='^markup-' npx vitest run --project hostile attacks` runs some of them.
 *
 * While an attack runs, a second process asks a healthy block every 40 ms (`prober.cjs`).
 */
import type { Host } from '../../support/host';
import type { Answer, Message } from '../../support/send';

export interface Attack {
  /** Unique; begins with its subject: `compile-generics`. Also the id of its block, with a number behind it. */
  name: string;
  /** Files of the attack's block in the app `attack`, by their ending. */
  block?: Partial<Record<'js' | 'ts' | 'py' | 'html' | 'yaml', string>>;
  /** Other files, by path below the theme's folder, e.g. `rules.yaml`. Removed after the attack. */
  files?: Record<string, string>;
  /** Prepares the host, e.g. makes records. Nothing is measured meanwhile. */
  prepare?(arena: Pick<AttackArena, 'host' | 'send'>): Promise<void>;
  /** Sent at once. `{id}` in a path is the block's id. Default: one `POST /site/@@apps/attack/blocks/{id}/f`. */
  requests?: readonly Partial<Message>[];
  /** Whether a manager sends them; otherwise they are anonymous. */
  byManager?: boolean;
  /** Sent in turn by the second process, besides its request to the healthy block. */
  healthy?: readonly HealthyRequest[];
  /** Statuses that each answer may have. */
  status: number | readonly number[];
  /** A pattern that each answer must match. */
  has?: RegExp;
  /** Milliseconds within which each answer comes. Default 3,000. */
  within?: number;
  /** Part of `npm test`, where the whole corpus is not run. */
  short?: boolean;
}

/** A request of the healthy client, anonymous as JSON unless it has other headers; its answer must be 200 or 201. */
export interface HealthyRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  json?: object;
}

/** A page of the theme, as a healthy request. */
export const healthyPage: HealthyRequest = {
  method: 'GET',
  path: '/site/articles/healthy',
  headers: { accept: 'text/html' },
};

export interface Attempt {
  answers: readonly { answer: Answer; time: number }[];
  /** Milliseconds of the slowest answer to the second process meanwhile, and its answers that were not 200. */
  slowest: number;
  failed: readonly string[];
}

export interface AttackArena {
  host: Host;
  /** Sends a request as an anonymous JSON client with a CSRF token, unless the message says otherwise. */
  send(message: Partial<Message>): Promise<Answer>;
  /** Runs an attack once, as a block of a new id, so that nothing of an earlier attempt is cached. */
  attempt(attack: Attack): Promise<Attempt>;
  /** Megabytes of resident memory of the host, after a collection of garbage. */
  memory(): Promise<number>;
  close(): Promise<void>;
}
