import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What is used of s3rver, which has no types. */
interface S3rver {
  callback(): RequestListener;
  configureBuckets(): Promise<unknown>;
  store: { listObjects(bucket: string, options: object): Promise<{ objects: { key: string }[] }> };
}

const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** An object store on this machine. */
export interface ObjectStore {
  /** The configuration of Strapi's S3 provider for a bucket. */
  provider(bucket: string, acl: 'private' | 'public-read'): object;
  /** Names of the objects of a bucket. */
  names(bucket: string): Promise<string[]>;
  /** An object as those read it who know its address alone. */
  unsigned(bucket: string, name: string): Promise<Response>;
  /** Ends it, so that nothing answers at its address, until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes all. */
  destroy(): Promise<void>;
}

const nameOf = ({ url = '' }: IncomingMessage) => url.replace(/\?.*/s, '');
const isSigned = ({ url = '', headers }: IncomingMessage) =>
  headers.authorization !== undefined || url.includes('X-Amz-Signature=');

/** s3rver, which knows no access control lists: what was not stored with `public-read` is refused without a signature here. */
export async function objectStore(buckets: readonly string[]): Promise<ObjectStore> {
  const directory = await mkdtemp(path.join(tmpdir(), 'apps-s3-'));
  const S3 = createRequire(__filename)('s3rver') as new (options: object) => S3rver;
  const s3 = new S3({ directory, silent: true, configureBuckets: buckets.map((name) => ({ name })) });
  await s3.configureBuckets();
  const answer = s3.callback();
  const open = new Set<string>();
  let server: Server | undefined;
  let port = 0;
  const start = async () => {
    const started = createServer((request, response) => {
      if (request.method === 'PUT' && request.headers['x-amz-acl'] === 'public-read') open.add(nameOf(request));
      if (isSigned(request) || open.has(nameOf(request))) return void answer(request, response);
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    });
    await new Promise<void>((done) => started.listen(port, '127.0.0.1', done));
    port = (started.address() as AddressInfo).port;
    server = started;
  };
  const stop = async () => {
    const ended = server;
    server = undefined;
    ended?.closeAllConnections();
    await new Promise((done) => (ended ? ended.close(done) : done(null)));
  };
  await start();
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    provider: (Bucket, ACL) => ({
      provider: 'aws-s3',
      providerOptions: {
        s3Options: {
          credentials: keys,
          region: 'eu-west-1',
          endpoint,
          forcePathStyle: true,
          maxAttempts: 2,
          params: { ACL, Bucket },
        },
      },
    }),
    names: async (bucket) => (await s3.store.listObjects(bucket, { maxKeys: 1000 })).objects.map(({ key }) => key),
    unsigned: (bucket, name) => fetch(`${endpoint}/${bucket}/${name}`),
    start,
    stop,
    async destroy() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
