import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../plugins/apps/server/src/config';
import { privateFolder } from '../plugins/apps/server/src/host-files';
import { root } from './prepare.mjs';
import { readDockerfile } from './read-dockerfile.mjs';

/** The files for running the site (docs/operate/deployment.md), by the programs that read them where these are installed. */
const at = (...names) => join(root, ...names);
const read = (...names) => readFileSync(at(...names), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'apps-deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program, and gives all that it prints. */
const output = (command, args, options) => {
  try {
    return execFileSync('sh', ['-c', '"$0" "$@" 2>&1', command, ...args], { encoding: 'utf8', ...options });
  } catch (error) {
    throw new Error(`${command}: ${error.stdout}`);
  }
};

/** Whether a program is there; its absence is said loudly. */
function has(command, args) {
  try {
    output(command, args);
    return true;
  } catch {
    const line = '!'.repeat(100);
    console.warn(`${line}\n! ${command} ${args.join(' ')} does not run: ITS FILES ARE NOT CHECKED BY IT\n${line}`);
    return false;
  }
}

describe('Dockerfile', () => {
  const steps = readDockerfile(read('Dockerfile'));
  const of = (name) => steps.filter((step) => step.name === name).map(({ values }) => values);
  const last = steps.slice(steps.findLastIndex(({ name }) => name === 'FROM'));

  test.each([
    ['an unknown instruction', (text) => text.replace('WORKDIR', 'WORKDRI'), /line 7: Unknown instruction/],
    [
      'a command with a shell between',
      (text) => text.replace('CMD ["node", "node_mod', 'CMD ["node, "node_mod'),
      /list/,
    ],
    ['an instruction that npm run test:image does not follow', (text) => `${text}ENTRYPOINT ["x"]\n`, /ENTRYPOINT/],
  ])('%s would be refused', (_title, broken, message) => {
    expect(() => readDockerfile(broken(read('Dockerfile')))).toThrow(message);
  });

  test('has the Node.js of .nvmrc', () => {
    expect(of('ARG')).toEqual([{ name: 'NODE_VERSION', value: read('.nvmrc').trim() }]);
    expect(of('FROM').map(({ image }) => image)).toEqual(['node:20-bookworm', 'node:20-bookworm-slim']);
  });

  test('installs the packages of all workspaces', () => {
    const copied = of('COPY').flatMap(({ sources }) => sources);
    for (const name of readdirSync(at('plugins'))) {
      if (existsSync(at('plugins', name, 'package.json'))) expect(copied).toContain(`plugins/${name}/package.json`);
    }
  });

  test('runs Node.js itself, not as root, and asks whether it is ready', () => {
    const said = (name) => last.find((step) => step.name === name)?.values;
    expect(said('USER')).toEqual({ name: 'node' });
    expect(said('CMD').command.slice(0, 2)).toEqual(['node', 'node_modules/@strapi/strapi/bin/strapi.js']);
    expect(said('HEALTHCHECK').command.join(' ')).toContain('/_apps/ready');
    expect(said('STOPSIGNAL')).toEqual({ signal: 'SIGTERM' });
  });

  test.skipIf(!has('docker', ['info']))('passes the checks of the engine', () => {
    output('docker', ['build', '--check', root]);
  });
});

describe('compose.yaml', () => {
  const { services, volumes, networks } = load(read('compose.yaml'));

  test('names what it uses', () => {
    for (const [name, { networks: used = [], volumes: mounts = [], depends_on: after = {} }] of Object.entries(
      services,
    )) {
      for (const one of used) expect(Object.keys(networks), name).toContain(one);
      for (const one of Object.keys(after)) expect(services[one].healthcheck ?? services[one].build, one).toBeDefined();
      for (const one of mounts.map((mount) => mount.split(':')[0])) {
        if (!one.startsWith('.')) expect(Object.keys(volumes), name).toContain(one);
        else if (one.endsWith('.conf')) expect(existsSync(at(one)), one).toBe(true);
      }
    }
  });

  test('the site cannot write but where it must, and has time to end', () => {
    const { site, database } = services;
    expect(site).toMatchObject({ read_only: true, stop_grace_period: '30s', cap_drop: ['ALL'] });
    expect(database.networks).toEqual(['back']);
    expect(networks.back).toEqual({ internal: true });
  });

  test.skipIf(!has('docker', ['compose', 'version']))('is what compose takes', () => {
    const env = { ...process.env, DATABASE_PASSWORD: 'x' };
    output('docker', ['compose', '-f', at('compose.yaml'), 'config', '--quiet'], { env });
  });
});

describe('deploy/nginx/site.conf', () => {
  const site = read('deploy', 'nginx', 'site.conf');

  test('proxy_pass has no path, and forwarded headers are overwritten', () => {
    const passes = [...site.matchAll(/proxy_pass\s+(\S+);/g)].map(([, target]) => target);
    expect(new Set(passes)).toEqual(new Set(['http://site']));
    expect(site).not.toContain('$proxy_add_x_forwarded_for');
  });

  test.skipIf(!has('nginx', ['-v']))('nginx takes it', () => {
    const [key, pem] = ['site.key', 'site.pem'].map((name) => join(folder, name));
    const certificate = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=www.example.com'];
    output('openssl', [...certificate, '-keyout', key, '-out', pem]);
    const here = site
      .replaceAll('/etc/nginx/certificates', folder)
      .replace('server site:1337', 'server 127.0.0.1:1337');
    writeFileSync(join(folder, 'site.conf'), here);
    const logs = `error_log ${folder}/error.log; pid ${folder}/nginx.pid;`;
    writeFileSync(join(folder, 'nginx.conf'), `${logs} events {} http { include ${folder}/site.conf; }`);
    expect(output('nginx', ['-t', '-c', join(folder, 'nginx.conf')])).toContain('test is successful');
  });
});

test('the service of systemd and that of compose believe their proxy, which alone reaches them', () => {
  const unit = read('deploy', 'systemd', 'strapi-apps.service');
  const variables = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) => line.split(' '));
  expect(variables).toEqual(expect.arrayContaining(['HOST=127.0.0.1', 'IS_PROXIED=true', 'LOG_FORMAT=json']));
  const { site } = load(read('compose.yaml')).services;
  expect(site).toMatchObject({ environment: { IS_PROXIED: 'true', LOG_FORMAT: 'json' } });
  expect(site.ports).toBeUndefined();
});

test('what the server writes is open to it under systemd and in compose, and the page says so', () => {
  const unit = read('deploy', 'systemd', 'strapi-apps.service');
  const [, open] = /^ReadWritePaths=(.*)$/m.exec(unit);
  const { site } = load(read('compose.yaml')).services;
  const mounts = [...site.volumes, ...site.tmpfs].map((mount) => mount.split(':').find((part) => part.startsWith('/')));
  const [, page] = read('docs', 'operate', 'deployment.md').split('## As a service');
  const { temporaryDirectory, filesDirectory } = readConfig({}, { appRoot: '/srv/site' });
  const settings = { get: (key) => (key.endsWith('client') ? 'postgres' : undefined) };
  const dirs = { app: { root: '/srv/site' }, static: { public: '/srv/site/public' } };
  const files = privateFolder({ config: settings, dirs }, { filesDirectory });
  for (const written of [temporaryDirectory, files, '/srv/site/public/uploads']) {
    const isIn = (folder) => `${written}/`.startsWith(`${folder}/`);
    const folder = open.split(' ').find(isIn);
    expect(folder, written).toBeDefined();
    expect(page).toContain(`\`${folder}\``);
    expect(mounts.some(isIn), written).toBe(true);
  }
});

test('neither the image nor the repository has secrets and records of a running site', () => {
  const { site, proxy } = load(read('compose.yaml')).services;
  const [certificates] = proxy.volumes
    .map((mount) => mount.split(':')[0])
    .filter((one) => one.endsWith('certificates'));
  const [, token] = /credentials_file: (\S+)/.exec(read('deploy', 'prometheus', 'prometheus.yml'));
  const kept = site.volumes.map((mount) => mount.split(':/srv/site/')[1]);
  const leftOut = read('.dockerignore').split('\n');
  const paths = [certificates.replace('./', ''), `deploy/prometheus/${token}`, ...kept, '.env'];
  expect(paths).toHaveLength(5);
  for (const path of paths) {
    expect(
      [path, `${path}/*`].some((line) => leftOut.includes(line)),
      path,
    ).toBe(true);
    expect(output('git', ['check-ignore', `${path}/any`], { cwd: root }), path).toBeTruthy();
  }
});

test.skipIf(!has('systemd-analyze', ['--version']))('systemd takes the unit', () => {
  const unit = read('deploy', 'systemd', 'strapi-apps.service');
  const file = join(folder, 'strapi-apps.service');
  writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
  const said = output('systemd-analyze', ['verify', file]);
  expect(said.split('\n').filter((line) => line.includes('strapi-apps.service'))).toEqual([]);
});

describe('deploy/grafana/dashboard.json', () => {
  const { panels, templating } = JSON.parse(read('deploy', 'grafana', 'dashboard.json'));

  test('each panel has a place of its own, and names variables that exist', () => {
    const names = templating.list.map(({ name }) => name);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
    for (const { title, targets } of panels)
      for (const { expr } of targets)
        for (const [, name] of expr.matchAll(/\$(\w+)/g))
          expect([...names, '__rate_interval'], `${title}: ${name}`).toContain(name);
  });
});
