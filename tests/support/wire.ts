import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * What is lost of a statement at which a connection is cut: the statement; its answer, after the server has carried it out; or its
 * answer, while the statement still is on its way: it arrives `LATE` milliseconds after its sender has lost the connection.
 */
export type Loss = 'statement' | 'answer' | 'answer before';

const LATE = 250;

/** A place where a connection is cut: at `then`, once it has sent `first`. */
interface Cut {
  first: RegExp;
  then: RegExp;
  loss: Loss;
}

/** A proxy before a database server, which can be cut as if the server had ended, and lead to another one. */
export interface Wire {
  readonly port: number;
  /** Ends all connections, and refuses others. */
  cut(): void;
  /** Loses whatever is sent, on connections that stay open. */
  hold(): void;
  restore(): void;
  /** Leads new connections to another server. */
  lead(port: number): void;
  /** Cuts the connection that next sends both statements. Others are not cut. */
  cutAt(first: RegExp, then: RegExp, loss?: Loss): void;
  /** Whether the connection of `cutAt` has been cut. */
  hasCut(): boolean;
  /** Resolves when a client has next sent a statement, which is on its way to the server. */
  next(statement: RegExp): Promise<void>;
  close(): void;
}

export async function openWire(host: string, port: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let target = port;
  let isCut = false;
  let isHeld = false;
  let cutAt: Cut | undefined;
  let awaited: { statement: RegExp; seen(): void } | undefined;

  const pass = (chunk: Buffer, from: Socket, to: Socket): void => {
    if (isHeld || to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  };

  /** Cuts a connection at a statement that its client has just sent. */
  const lose = async (chunk: Buffer, client: Socket, upstream: Socket, loss: Loss): Promise<void> => {
    if (loss === 'statement') return void upstream.destroy();
    if (loss === 'answer before') {
      client.destroy();
      await pause(LATE);
    }
    upstream.removeAllListeners('data');
    upstream.once('data', () => {
      client.destroy();
      upstream.destroy();
    });
    upstream.write(chunk);
  };

  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(target, host);
    for (const socket of [client, upstream]) sockets.add(socket);
    let isLost = false;
    /** The place of which this connection has sent the first statement. */
    let begun: Cut | undefined;
    client.on('data', (chunk: Buffer) => {
      const text = cutAt || awaited ? chunk.toString('latin1') : '';
      if (cutAt?.first.test(text)) begun = cutAt;
      if (!cutAt || begun !== cutAt || !cutAt.then.test(text)) {
        pass(chunk, client, upstream);
        if (awaited?.statement.test(text)) awaited.seen();
        return;
      }
      const { loss } = cutAt;
      cutAt = undefined;
      isLost = true;
      void lose(chunk, client, upstream, loss);
    });
    upstream.on('data', (chunk: Buffer) => pass(chunk, upstream, client));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        // What is on its way arrives.
        if (from === upstream || !isLost) to.destroy();
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut() {
      isCut = true;
      cutAll();
    },
    hold() {
      isHeld = true;
    },
    restore() {
      isCut = false;
      isHeld = false;
    },
    lead(next) {
      target = next;
    },
    cutAt(first, then, loss = 'statement') {
      cutAt = { first, then, loss };
    },
    hasCut: () => cutAt === undefined,
    next: (statement) =>
      new Promise((resolve) => {
        const seen = () => {
          awaited = undefined;
          resolve();
        };
        awaited = { statement, seen };
      }),
    close() {
      cutAll();
      server.close();
    },
  };
}
