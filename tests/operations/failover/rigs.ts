import { setTimeout as pause } from 'node:timers/promises';
import { openWire, type Wire } from '../../support/wire';
import { createMariaDb, createPostgres, type OwnServer, postgresPrograms, synchronise } from './servers';

/** A database that fails, behind an address that stays the same. */
export interface Rig {
  /** The environment of a host on an empty database of it. */
  readonly env: Record<string, string>;
  readonly wire: Wire;
  /** The server behind the address. */
  server(): OwnServer;
  /** Each resolves when the database is back. */
  readonly failures: Record<string, () => Promise<void>>;
  /** After a failure: makes the next one possible. */
  repair(): Promise<void>;
  remove(): Promise<void>;
}

const DATABASE = 'strapi';

const environment = (client: 'postgres' | 'mysql', user: string, { port }: Wire) => ({
  DATABASE_CLIENT: client,
  DATABASE_HOST: '127.0.0.1',
  DATABASE_PORT: String(port),
  DATABASE_NAME: DATABASE,
  DATABASE_USERNAME: user,
  DATABASE_PASSWORD: '',
  DATABASE_CONNECTION_TIMEOUT: '5000',
});

/** Failures of any server: one that is killed while a COMMIT is on its way, and a network that is away for a moment. */
const usual = (wire: Wire, server: () => OwnServer) => ({
  async 'killed at a COMMIT, and started again'() {
    await wire.next(/COMMIT/);
    await server().kill();
    await server().start();
  },
  async 'killed, and started again'() {
    await server().kill();
    await pause(Math.random() * 500);
    await server().start();
  },
  async 'cut off at a COMMIT'() {
    await wire.next(/COMMIT/);
    wire.cut();
    await pause(Math.random() * 500);
    wire.restore();
  },
});

/** A PostgreSQL primary with a synchronous standby, which takes over when the primary is killed. */
export async function postgresRig(folder: (name: string) => string): Promise<Rig> {
  const programs = (await postgresPrograms()) as string;
  let made = 1;
  let primary = await createPostgres(programs, folder('cluster-1'));
  await primary.start();
  await primary.ask(`create database ${DATABASE}`);
  const wire = await openWire('127.0.0.1', primary.port);
  let standby: OwnServer | undefined;

  const repair = async () => {
    if (standby) return;
    made += 1;
    standby = await createPostgres(programs, folder(`cluster-${made}`), primary);
    await standby.start();
    await synchronise(primary);
  };
  /** The standby takes over from a primary that is killed. */
  const failOver = async () => {
    const [killed, next] = [primary, standby as OwnServer];
    await killed.kill();
    wire.cut();
    await next.ask('select pg_promote()');
    [primary, standby] = [next, undefined];
    wire.lead(next.port);
    wire.restore();
    await killed.remove();
  };
  await repair();
  return {
    env: environment('postgres', 'postgres', wire),
    wire,
    server: () => primary,
    repair,
    failures: {
      async 'killed at a COMMIT, and taken over by the standby'() {
        await wire.next(/COMMIT/);
        await failOver();
      },
      ...usual(wire, () => primary),
      'killed, and taken over by the standby': failOver,
    },
    async remove() {
      wire.close();
      await Promise.all([primary.remove(), standby?.remove()]);
    },
  };
}

export async function mariaDbRig(folder: (name: string) => string): Promise<Rig> {
  const server = await createMariaDb(folder('mariadb'));
  await server.start();
  await server.ask(`create database ${DATABASE}`);
  const wire = await openWire('127.0.0.1', server.port);
  return {
    env: environment('mysql', 'root', wire),
    wire,
    server: () => server,
    repair: async () => undefined,
    failures: usual(wire, () => server),
    async remove() {
      wire.close();
      await server.remove();
    },
  };
}
