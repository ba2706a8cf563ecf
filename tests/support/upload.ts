import { connect } from 'node:net';

export interface Upload {
  port: number;
  /** Raw path. */
  path: string;
  /** Headers besides Host, Accept, Content-Type and the one that says how long the body is. */
  headers?: Record<string, string>;
  type?: string;
  /** The body: its beginning, and the number of bytes after it. */
  begin?: string;
  size: number;
  /** Sent without a Content-Length. */
  chunked?: boolean;
  /** Disconnects after this number of bytes of the body. */
  leaveAt?: number;
}

export interface Uploaded {
  /** 0: no answer. */
  status: number;
  text: string;
  /** Bytes of the body that went into the connection. */
  sent: number;
}

/** The first part of a form: a file. */
export const filePart =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: a/b\r\n\r\n';

/** Sends a large body over its own connection, as fast as the server reads it, until the server answers. */
export function upload(options: Upload): Promise<Uploaded> {
  const { port, path, headers = {}, type = 'multipart/form-data; boundary=b', begin = filePart, size } = options;
  const { chunked = false, leaveAt = Number.POSITIVE_INFINITY } = options;
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${Buffer.byteLength(begin) + size}`;
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Type: ${type}\r\n${length}\r\n${more.join('')}\r\n`;
  const piece = Buffer.alloc(64 * 1024, 'x');
  const framed = (bytes: Buffer) =>
    chunked ? Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]) : bytes;
  return new Promise((resolve) => {
    let [text, sent] = ['', 0];
    const socket = connect(port, '127.0.0.1');
    const end = () => {
      clearInterval(waiting);
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text, sent });
    };
    const go = () => {
      while (sent < size && sent < leaveAt && !socket.destroyed) {
        const bytes = piece.subarray(0, Math.min(piece.length, size - sent));
        sent += bytes.length;
        if (!socket.write(framed(bytes))) return;
      }
      if (sent >= leaveAt) end();
      else if (chunked) socket.write('0\r\n\r\n');
    };
    const waiting = setTimeout(end, 40_000);
    socket.on('data', (data) => {
      text += data;
      if (/\r\n\r\n.*\}/s.test(text)) end();
    });
    socket.on('drain', go);
    socket.on('error', end);
    socket.on('close', end);
    socket.on('connect', () => {
      socket.write(head);
      if (begin !== '') socket.write(framed(Buffer.from(begin)));
      go();
    });
  });
}
