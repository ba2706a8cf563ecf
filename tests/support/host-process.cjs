/**
 * A host in a process of its own, started by host.ts: boots Strapi as `strapi start` does, sends its address, and
 * runs the functions that a test sends.
 */
const { createStrapi } = require('@strapi/strapi');

const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

async function main() {
  const appDir = process.cwd();
  const strapi = await createStrapi({ appDir, distDir: `${appDir}/dist` }).start();
  process.on('message', async ({ call, source, args }) => {
    try {
      // biome-ignore lint/security/noGlobalEval: the tests' own functions, sent as their source
      const result = await eval(`(${source})`)(strapi, ...args);
      process.send({ call, result: plain(result) });
    } catch (error) {
      process.send({ call, error: { name: error.name, message: error.message, details: plain(error.details) } });
    }
  });
  process.on('disconnect', () => process.exit(1));
  process.send({ url: strapi.config.get('server.absoluteUrl') });
}

main();
