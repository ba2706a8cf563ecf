import { expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import type { Row } from '../support/stage';
import { runTable } from '../support/table';

/** Sites in each language of the service, and one in a language that it lacks. */
const sites = ['en', 'de', 'fr', 'es', 'it'].map((locale) => ({ id: locale, title: 'Site', theme: 'main', locale }));
const stage = useStage({ env: configured({ apps: { sites } }) });

const page = { accept: 'text/html' };
const lost = '/@@apps/open/record/none';

/** [site, title of the login, its button, title of a missing page, its sentence, title of a refusal] */
const languages = [
  [
    'de',
    'Anmelden bei Site',
    'Anmelden',
    'Nicht gefunden',
    'Unter dieser Adresse gibt es nichts.',
    'Bitte melden Sie sich an',
  ],
  [
    'fr',
    'Se connecter à Site',
    'Se connecter',
    'Page introuvable',
    'Il n’y a rien à cette adresse.',
    'Veuillez vous connecter',
  ],
  [
    'es',
    'Iniciar sesión en Site',
    'Iniciar sesión',
    'No encontrado',
    'No hay nada en esta dirección.',
    'Inicie sesión',
  ],
] as const;

const rows = languages.flatMap(([site, login, button, title, sentence, refusal]): Row[] => [
  {
    title: `the login in ${site}`,
    send: `GET /${site}/@@login`,
    ...page,
    status: 200,
    has: [`<h1>${login}</h1>`, `>${button}</button>`],
    lacks: ['Log in', 'Password', '<div lang='],
  },
  {
    title: `a missing page in ${site}`,
    send: `GET /${site}${lost}`,
    ...page,
    status: 404,
    has: [`<h1>${title}</h1>`, sentence, 'data-error="NotFoundError"'],
    lacks: ['There is no', 'Not found', '<p lang="en">'],
  },
  {
    title: `the same as JSON in ${site} is in English`,
    send: `GET /${site}${lost}`,
    status: 404,
    error: 'NotFoundError',
    has: ['There is no record'],
  },
  {
    title: `a refusal in ${site}`,
    send: `GET /${site}/@@apps/rights/record/x`,
    ...page,
    status: 401,
    has: [`<h1>${refusal}</h1>`, `@@login?next=`, `>${button}</a>`],
    lacks: ['Please log in'],
  },
]);

runTable(stage, [
  ...rows,
  {
    title: 'an error page in English has the message of the error',
    send: `GET /en${lost}`,
    ...page,
    status: 404,
    has: ['<h1>Not found</h1>', 'There is no record'],
  },
  {
    title: 'a manager reads the message in English too',
    as: 'mona',
    send: `GET /de${lost}`,
    ...page,
    status: 404,
    has: ['<h1>Nicht gefunden</h1>', '<p lang="en">There is no record'],
  },
  {
    title: 'texts in another language than the site are marked',
    send: 'GET /it/@@login',
    ...page,
    status: 200,
    has: ['<div lang="en">\n<h1>Log in to Site</h1>'],
  },
]);

test('a wrong login is explained in the language of the site', async () => {
  const form = await stage.send({ send: 'GET /de/@@login', accept: 'text/html' });
  const token = /name="_csrf" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
  const cookie = String(form.headers['set-cookie']).split(';')[0] ?? '';
  const answer = await stage.send({
    send: 'POST /de/@@login',
    accept: 'text/html',
    headers: { cookie },
    form: { _csrf: token, identifier: 'nobody', password: 'wrong' },
  });
  expect(answer.status).toBe(401);
  expect(answer.text).toContain('Der Name oder das Passwort stimmt nicht.');
});
