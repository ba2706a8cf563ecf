/**
 * Fixtures of tests: each function starts one before the tests of the file or `describe` that calls it, and ends it after
 * them, the last started first. Its result can be used in hooks and tests, not while vitest collects them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { openBrowser, type Visitor, visitor } from './browser';
import { type Client, createTestDatabase } from './databases';
import { type Host, type HostOptions, startHost } from './host';
import { openStage, type Stage, startTwin } from './stage';
import { templateOf } from './template';
import { copyThemes, type ThemeCopy } from './theme';

/** Registers the hooks; returns a function that gives the started fixture. */
function use<T>(start: () => Promise<T>, end: (started: T) => unknown): () => T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(async () => {
    if (started !== undefined) await end(started);
  });
  return () => {
    if (started === undefined) throw new Error('Nothing is started yet: this can be used in hooks and tests only.');
    return started;
  };
}

/** Options, or a function that uses fixtures of earlier hooks. */
type Options<T> = T | (() => T);

const resolve = <T extends object>(options: Options<T>): T => (typeof options === 'function' ? options() : options);

/** Prints the last errors in the log of a host whose test has failed: an unexpected error of the server is explained there alone. */
function showErrors(host: () => Host): void {
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return;
    const lines = host().output().split('\n');
    const errors = lines.filter((line) => /error|^\s+at /i.test(line)).slice(-60);
    if (errors.length > 0) console.error(`Errors of ${host().url}:\n${errors.join('\n')}`);
  });
}

function hostOf(host: () => Host): Host {
  showErrors(host);
  return {
    get url() {
      return host().url;
    },
    get database() {
      return host().database;
    },
    output: () => host().output(),
    printed: () => host().printed(),
    run: (work, ...args) => host().run(work, ...args),
    stop: () => host().stop(),
  };
}

/** A host with its options only, without the test themes and users. */
export function useHost(options: Options<HostOptions> = {}): Host {
  return hostOf(
    use(
      () => startHost(resolve(options)),
      (host) => host.stop(),
    ),
  );
}

/** A host with the test themes and its cast. */
export function useStage(options: Options<HostOptions> = {}): Stage {
  const stage = use(
    () => openStage(resolve(options)),
    (opened) => opened.close(),
  );
  return {
    host: hostOf(() => stage().host),
    user: (who) => stage().user(who),
    credential: (who) => stage().credential(who),
    csrf: (who) => stage().csrf(who),
    send: (row) => stage().send(row),
    put: (app, id, items, as) => stage().put(app, id, items, as),
    keep: (app, id, items) => stage().keep(app, id, items),
    items: (app, id) => stage().items(app, id),
    close: () => stage().close(),
  };
}

/** A second process on a stage's database. */
export function useTwin(stage: Stage, options: Options<Omit<HostOptions, 'database'>> = {}): Host {
  return hostOf(
    use(
      () => startTwin(stage, resolve(options)),
      (twin) => twin.stop(),
    ),
  );
}

/** A copy of the test themes, with more files by their paths below the themes' folder, or prepared otherwise. */
export function useThemes(more: Record<string, string> | ((themes: ThemeCopy) => Promise<void>) = {}): ThemeCopy {
  const themes = use(
    async () => {
      const copy = await copyThemes();
      if (typeof more === 'function') await more(copy);
      else for (const [file, text] of Object.entries(more)) await copy.write(file, text);
      return copy;
    },
    (copy) => copy.dispose(),
  );
  return {
    get directory() {
      return themes().directory;
    },
    write: (file, text) => themes().write(file, text),
    remove: (file) => themes().remove(file),
    dispose: () => themes().dispose(),
  };
}

/** A temporary folder; the function gives its path, or that of a file in it. */
export function useFolder(name: string, prepare?: (folder: string) => unknown): (...names: string[]) => string {
  const folder = use(
    async () => {
      const made = await mkdtemp(path.join(tmpdir(), `apps-${name}-`));
      await prepare?.(made);
      return made;
    },
    (made) => rm(made, { recursive: true, force: true }),
  );
  return (...names) => path.join(folder(), ...names);
}

type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/**
 * A database of its own, by default with the tables of a host; `table: false` is an empty one, `table: true` one with the table
 * of records only. The function gives it.
 */
export function useDatabase(client: Client, options?: { table: boolean }): () => TestDatabase {
  return use(
    async () => createTestDatabase(client, options ?? { template: await templateOf(client) }),
    (database) => database.destroy(),
  );
}

/** A browser in which visitors of their own open pages; their pages are closed at the end. */
export function useBrowser(): { visitor(options?: Parameters<Browser['newContext']>[0]): Promise<Visitor> } {
  const visitors: Visitor[] = [];
  const browser = use(openBrowser, () => Promise.all(visitors.map(({ context }) => context.close())));
  return {
    async visitor(options) {
      const one = await visitor(browser(), options);
      visitors.push(one);
      return one;
    },
  };
}

/** A server of one page of HTML, of another origin than every host. */
export function usePage(html: () => string, name = '127.0.0.1'): { readonly origin: string } {
  const server = use(
    async () => {
      const started: Server = createServer((_, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end(html());
      });
      await new Promise<void>((done) => started.listen(0, name, done));
      return started;
    },
    (started) => started.close(),
  );
  return {
    get origin() {
      return `http://${name}:${(server().address() as AddressInfo).port}`;
    },
  };
}

/** What a fake web service was asked. */
export interface Asked {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A fake web service on this machine; `answer` may be replaced by each test. */
export interface Service {
  readonly origin: string;
  /** `127.0.0.1:41234`, as the configuration names it. */
  readonly host: string;
  readonly asked: Asked[];
  answer(asked: Asked, response: ServerResponse): unknown;
}

export function useService(): Service {
  const server = use(
    async () => {
      const started: Server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { method = '', url = '', headers } = request;
        const asked = { method, url, headers, body: Buffer.concat(chunks).toString() };
        service.asked.push(asked);
        await service.answer(asked, response);
      });
      await new Promise<void>((done) => started.listen(0, '127.0.0.1', done));
      return started;
    },
    (started) => {
      started.closeAllConnections();
      started.close();
    },
  );
  const service: Service = {
    get host() {
      return `127.0.0.1:${(server().address() as AddressInfo).port}`;
    },
    get origin() {
      return `http://${service.host}`;
    },
    asked: [],
    answer: (_asked, response) => response.end(),
  };
  return service;
}
