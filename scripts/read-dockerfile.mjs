/** Reads the instructions of a Dockerfile that this repository's uses; throws for any other. */

const words = (text) => text.trim().split(/\s+/);
const list = (text, name) => {
  const found = JSON.parse(text);
  if (!Array.isArray(found) || found.length === 0) throw new Error(`${name}: the form with a list is wanted`);
  return found;
};

const readers = {
  FROM: (text) => {
    const [, image, , name = 'last'] = /^(\S+)(\s+AS\s+(\S+))?$/i.exec(text) ?? [];
    return { image, name };
  },
  WORKDIR: (path) => ({ path }),
  ENV: (text) => ({ values: Object.fromEntries(words(text).map((one) => one.split(/=(.*)/s).slice(0, 2))) }),
  COPY(text) {
    const [, , from, rest] = /^(--from=(\S+)\s+)?(.*)$/.exec(text) ?? [];
    const named = words(rest);
    return { from, sources: named.slice(0, -1), target: named.at(-1) };
  },
  RUN: (command) => ({ command }),
  USER: (name) => ({ name }),
  EXPOSE: (port) => ({ port: Number(port) }),
  VOLUME: (text) => ({ paths: list(text, 'VOLUME') }),
  STOPSIGNAL: (signal) => ({ signal }),
  HEALTHCHECK: (text) => ({ command: list(text.slice(text.indexOf('CMD') + 3), 'HEALTHCHECK') }),
  CMD: (text) => ({ command: list(text, 'CMD') }),
  ARG: (text) => ({ name: text.split('=')[0], value: text.split('=')[1] }),
};

/** @returns for each instruction its name, its text and what it says */
export function readDockerfile(text) {
  const args = new Map();
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [, name, said] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    const read = readers[name];
    if (!read) throw new Error(`This is no known instruction: ${line}`);
    const filled = name === 'FROM' ? said.replaceAll(/\$\{(\w+)\}/g, (_, one) => args.get(one) ?? '') : said;
    const values = read(filled.trim());
    if (name === 'ARG') args.set(values.name, values.value);
    return { name, text: `${name} ${filled}`, values };
  });
}
