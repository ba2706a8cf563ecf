import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { ProvidedFile } from '../stores';

/** A storage on this machine, and an upload provider for it as Strapi's packages make them. */
export interface ObjectServer {
  objects: Map<string, Buffer>;
  /** What is wrong with it: it gives all to requests without a signature, refuses those with one, or fails. */
  fault: 'open' | 'refuses' | 'away' | null;
  provider: {
    uploadStream(file: ProvidedFile & { stream: AsyncIterable<Buffer> }): Promise<void>;
    delete(file: ProvidedFile): Promise<void>;
    getSignedUrl(file: ProvidedFile): { url: string };
  };
  close(): Promise<void>;
}

const nameOf = ({ hash, ext }: ProvidedFile) => `${hash}${ext}`;

export async function objectServer(): Promise<ObjectServer> {
  const objects = new Map<string, Buffer>();
  const server: Server = createServer(({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://store');
    const bytes = objects.get(pathname.slice(1));
    const mayRead = searchParams.has('signature') ? store.fault !== 'refuses' : store.fault === 'open';
    if (!mayRead) return response.writeHead(403).end();
    if (!bytes) return response.writeHead(404).end();
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (from === undefined) return response.writeHead(200, { 'Content-Length': bytes.length }).end(bytes);
    response.writeHead(206).end(bytes.subarray(Number(from), Number(to) + 1));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const working = () => {
    if (store.fault === 'away') throw new Error('connect ECONNREFUSED 10.0.0.9:9000');
  };
  const store: ObjectServer = {
    objects,
    fault: null,
    provider: {
      async uploadStream(file) {
        working();
        objects.set(nameOf(file), await buffer(file.stream));
        file.url = `${origin}/${nameOf(file)}`;
      },
      async delete(file) {
        working();
        objects.delete(nameOf(file));
      },
      getSignedUrl: (file) => ({ url: `${origin}/${nameOf(file)}?signature=1` }),
    },
    close: () => new Promise((done) => server.close(() => done())),
  };
  return store;
}
