import { beforeEach, describe, expect, test } from 'vitest';
import { createKeyring } from '../credentials/keyring';
import type { Users } from '../credentials/users';
import type { UserRow } from '../rights/roles';
import { createSessions, MAX_SESSION_AGE, type Sessions } from './sessions';

const eric: UserRow = {
  id: 1,
  documentId: 'eric1',
  username: 'eric',
  email: 'eric@example.com',
  password: 'hash',
  provider: 'local',
  confirmed: true,
  blocked: false,
};

let user: UserRow | null;
let open: Set<string>;
let time: number;

const make = (keys: string[] = ['first']): Sessions => {
  const manager = {
    generateRefreshToken: async () => {
      const sessionId = `s${open.size}`;
      open.add(sessionId);
      return { sessionId, token: 'never shown' };
    },
  };
  const users = { load: async (where: { documentId?: string }) => (where.documentId === 'eric1' ? user : null) };
  const rows = {
    deleteMany: async ({ where }: { where: { sessionId: string } }) => ({
      count: Number(open.delete(where.sessionId)),
    }),
  };
  const strapi = { sessionManager: () => manager, db: { query: () => rows } };
  return createSessions(strapi as never, {
    users: users as unknown as Users,
    keyring: createKeyring(keys),
    isSessionActive: async (_origin, id) => open.has(id),
    now: () => time,
  });
};

beforeEach(() => {
  user = eric;
  open = new Set();
  time = 1_800_000_000_000;
});

describe('the session cookie', () => {
  test('identifies its user in every process, also under an older key', async () => {
    const value = await make().start(eric);
    expect(await make().resolve(value)).toBe(eric);
    expect(await make(['newer', 'first']).resolve(value)).toBe(eric);
    expect(value).not.toContain('never shown');
  });

  test.each<[string, () => void]>([
    ['the password has changed', () => (user = { ...eric, password: 'other' })],
    ['the user has no password any more', () => (user = { ...eric, password: null })],
    ['the user is gone', () => (user = null)],
    ['the session was ended elsewhere', () => open.clear()],
    ['it is too old', () => (time += MAX_SESSION_AGE + 1)],
  ])('is refused when %s', async (_name, happen) => {
    const value = await make().start(eric);
    happen();
    expect(await make().resolve(value)).toBeNull();
  });

  test.each([
    ['another key', (value: string) => value, ['other']],
    ['another session', (value: string) => value.replace('.s0.', '.s1.'), ['first']],
    ['a later time', (value: string) => value.replace(/\.[^.]+/, `.${(1_800_000_000_001).toString(36)}`), ['first']],
    ['a part missing', (value: string) => value.replace('.s0', ''), ['first']],
    ['nothing in it', () => '', ['first']],
  ])('is refused with %s', async (_name, forge, keys) => {
    const sessions = make();
    const value = await sessions.start(eric);
    await sessions.start(eric);
    expect(await make(keys).resolve(forge(value))).toBeNull();
  });

  test('ends at a logout; others stay valid', async () => {
    const sessions = make();
    const [first, second] = [await sessions.start(eric), await sessions.start(eric)];
    await sessions.end(first);
    expect(await sessions.resolve(first)).toBeNull();
    expect(await sessions.resolve(second)).toBe(eric);
    await sessions.end('garbage');
  });

  test('has safe attributes', () => {
    expect(make().header('v', false)).toBe('apps_session=v; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax');
    expect(make().header('v', true)).toBe('apps_session=v; Max-Age=604800; Path=/; HttpOnly; Secure; SameSite=Lax');
    expect(make().header('', false)).toMatch(/^apps_session=; Max-Age=0; Path=\/;/);
  });
});
