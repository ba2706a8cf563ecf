import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('npm start says that its port is in use before it builds or makes anything', async () => {
  const taken = createServer();
  await new Promise((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address();
  const env = { ...process.env, HOST: '127.0.0.1', PORT: String(port) };
  const child = spawn(process.execPath, [join(import.meta.dirname, 'start.mjs')], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  taken.close();
  expect(output).toContain(`PORT=${port + 1} npm start`);
  expect(output).not.toMatch(/Building|Writing random secrets|password/i);
  expect(code).not.toBe(0);
});
