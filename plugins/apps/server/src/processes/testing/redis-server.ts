import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Whether there is a `redis-server` on this machine. */
export const hasRedis = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;

/** A Redis of a test, which keeps nothing. */
export interface RedisServer {
  url: string;
  start(): Promise<void>;
  /** Ends it and all its connections. */
  stop(): Promise<void>;
  /** It keeps its connections, and answers nothing until `wake`. */
  sleep(): void;
  wake(): void;
}

export async function redisServer(): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const isOpen = () =>
    new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        done(true);
      }).on('error', () => done(false));
    });
  return {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
      child = spawn('redis-server', options, { stdio: 'ignore' });
      while (!(await isOpen())) await pause(20);
    },
    async stop() {
      const ended = new Promise((done) => child?.once('exit', done));
      child?.kill('SIGKILL');
      await ended;
    },
    sleep: () => void child?.kill('SIGSTOP'),
    wake: () => void child?.kill('SIGCONT'),
  };
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}
