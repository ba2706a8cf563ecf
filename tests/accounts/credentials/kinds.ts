import { describe, expect, test } from 'vitest';
import { createUser, userToken } from '../../support/seed';
import { basic, bearer, cookie, type Headers } from '../../support/send';
import type { Stage } from '../../support/stage';
import { askersOf, expectRefused, type Who } from './who';

export function kindsOfCredentials(stage: Stage): void {
  const { whoIs } = askersOf(stage);

  describe('every kind of credential', () => {
    test('a request without a credential is anonymous', async () => {
      expect((await whoIs()).json).toMatchObject({ groups: ['Public'], manager: false });
    });

    test('a users-permissions JWT is its user', async () => {
      const token = await userToken(stage.host, await stage.user('eric'));
      expect((await whoIs(bearer(token))).json).toMatchObject({ user: 'eric', groups: ['editors'] });
      expect((await whoIs({ authorization: `bearer ${token}` })).json).toMatchObject({ user: 'eric' });
    });

    const tokens: [string, Partial<Who>][] = [
      ['readToken', { groups: [], manager: false }],
      ['findToken', { groups: [], manager: false }],
      ['fullToken', { groups: [], manager: true }],
      ['manageToken', { groups: [], manager: true }],
      ['root', { manager: true }],
      ['ada', { manager: true }],
      ['olga', { manager: false }],
    ];
    test.each(tokens)('the token of %s is known', async (who, expected) => {
      const credential = (await stage.credential(who)) as { bearer: string };
      expect((await whoIs(bearer(credential.bearer))).json).toMatchObject(expected);
    });

    const people: [username: string, password: string][] = [
      ['plain', 'Password1'],
      ['dotted.name', 'Password1'],
      ['many.dots.in.name', 'pass.word.1'],
      ['co:lon', 'Password:1'],
      ['both.and:all', '.:pass.:'],
      ['space name', 'pass word'],
      ['jörg', 'pässwörd-✓'],
      ['Upper', 'PASSword1'],
      ['1234', '567890'],
      ['__proto__', 'Password1'],
      ["o'neil%", 'Password1'],
    ];
    test.each(people)('Basic of %s with the password %s is its user', async (username, password) => {
      const email = `${Buffer.from(username).toString('hex')}@mail.example.com`;
      await createUser(stage.host, { username, password, email, role: 'readers' });
      for (const separator of ['.', ':']) {
        for (const name of [username, email]) {
          const answer = await whoIs(basic(`${name}${separator}${password}`));
          expect([name, answer.status, answer.json]).toMatchObject([
            name,
            200,
            { user: username, groups: ['readers'] },
          ]);
        }
      }
      expectRefused(await whoIs(basic(`${username}:${password}x`)));
    });

    test('a longer name is not taken for a shorter one with its password', async () => {
      await createUser(stage.host, { username: 'ann', password: 'bee.Cee', role: 'readers' });
      await createUser(stage.host, { username: 'ann.bee', password: 'Dee123', role: 'authors' });
      expect((await whoIs(basic('ann.bee.Cee'))).json).toMatchObject({ user: 'ann' });
      expect((await whoIs(basic('ann.bee.Dee123'))).json).toMatchObject({ user: 'ann.bee' });
    });

    const invalid: [string, Headers][] = [
      ['an unknown scheme', { authorization: 'Digest username="eric"' }],
      ['a scheme alone', { authorization: 'Bearer' }],
      ['an empty Basic', { authorization: 'Basic ' }],
      ['a Basic that is no Base64', { authorization: 'Basic !!!' }],
      ['a Basic without separator', basic('eric')],
      ['a Basic without name', basic(':password')],
      ['a Basic without password', basic('eric.')],
      ['a Basic of an unknown user', basic('nobody.at.all')],
      ['a Basic with a zero byte', basic('eric\u0000:x')],
      ['an endless Basic', basic('x.'.repeat(5_000))],
      ['a garbage bearer', bearer('garbage')],
      ['a garbage JWT', bearer('a.b.c')],
      [
        'an unsigned JWT',
        bearer(
          `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"id":1}').toString('base64url')}.`,
        ),
      ],
      ['a session that is none', cookie('apps_session=garbage')],
    ];
    test.each(invalid)('%s is never anonymous', async (_name, headers) => {
      expectRefused(await whoIs(headers));
    });

    test('a page request is not challenged: the browser would ask for a password', async () => {
      const answer = await whoIs({ ...bearer('garbage'), accept: 'text/html' });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, undefined]);
    });
  });
}
