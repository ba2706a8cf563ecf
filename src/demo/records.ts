import type { Core } from '@strapi/strapi';

type Items = Record<string, string | number | boolean | string[] | null>;

/** Records of an app by their ids, as its logic would leave them. */
type AppRecords = Record<string, Items>;

/** A term of the glossary, with what its logic computes. */
const term = (name: string, meaning: string, topic: string, addedBy = 'anna'): Items => ({
  block: 'term',
  term: name,
  meaning,
  topics: [topic],
  words: `${name} ${meaning}`,
  sort_key: name.toLowerCase(),
  added_by: addedBy,
});

const comment = (page: string, author: string, day: string, text: string, state = 'approved'): Items => ({
  block: 'comment',
  page,
  author,
  text,
  state,
  created_at: `${day}T16:20:00.000Z`,
});

const answer = (name: string, day: string, frequency: string, score: number, topics: string[], text = ''): Items => ({
  block: 'answer',
  name,
  frequency,
  score,
  topics,
  comment: text,
  verdict: score >= 9 ? 'fan' : score >= 7 ? 'content' : 'critic',
  answered_at: `${day}T09:05:00.000Z`,
  newsletter: false,
  source: 'site',
});

const letter = (name: string, email: string, day: string, message: string): Items => ({
  block: 'letter',
  name,
  email,
  message,
  sent_at: `${day}T11:40:00.000Z`,
});

const votes = Object.fromEntries(
  ['tuesday', 'wednesday', 'wednesday', 'friday', 'wednesday', 'tuesday', 'friday', 'wednesday'].map(
    (evening, index): [string, Items] => [`vote-demo-${index + 1}`, { evening }],
  ),
);

const library: Record<string, AppRecords> = {
  rating: {
    '/articles/welcome': { total: 41 },
    '/articles/room-for-children': { total: 67 },
    '/articles/reading-group': { total: 18 },
  },
  glossary: {
    catalogue: term('Catalogue', 'The list of all that the library lends, with the shelf where it stands.', 'Web'),
    loan: term('Loan', 'What you take home, for four weeks. It can be renewed twice.', 'Content'),
    reservation: term('Reservation', 'A place in the queue for something that is lent.', 'Content'),
    shelfmark: term('Shelfmark', 'The letters and numbers on the back of a book: they say where it stands.', 'Content'),
    'repair-evening': term('Repair evening', 'On Fridays somebody helps you to repair a lamp or a coat.', 'Content'),
  },
  comments: {
    'demo-1': comment('/articles/welcome', 'anna', '2026-01-12', 'The table by the window is the best place in town.'),
    'demo-2': comment('/articles/welcome', 'sam', '2026-01-14', 'Is the music room open on Saturdays too?'),
    'demo-3': comment(
      '/articles/room-for-children',
      'anna',
      '2026-01-17',
      'My daughter has moved into the boat. Please send tea.',
    ),
    'demo-4': comment('/articles/welcome', 'sam', '2026-01-19', 'Could the printers do colour?', 'waiting'),
  },
  poll: votes,
  survey: {
    'demo-1': answer('Ida', '2026-01-08', 'weekly', 9, ['News', 'Interviews'], 'More about the archive, please.'),
    'demo-2': answer('Tomas', '2026-01-09', 'daily', 10, ['Tutorials']),
    'demo-3': answer('Mrs. Okafor', '2026-01-11', 'rarely', 6, [], 'I did not know that you lend sewing machines.'),
    'demo-4': answer('Lin', '2026-01-13', 'weekly', 8, ['News']),
    'demo-5': answer('Bruno', '2026-01-18', 'weekly', 9, ['Interviews'], 'Longer evenings!'),
  },
  contact: {
    'demo-1': letter('Clara', 'clara@example.org', '2026-01-15', 'I left a green umbrella in the garden room.'),
    'demo-2': letter('Yusuf', 'yusuf@example.org', '2026-01-20', 'Can our class visit you in March? We are 24.'),
  },
};

const buecherei: Record<string, AppRecords> = {
  rating: { '/articles/welcome': { total: 12 }, '/articles/reading-group': { total: 5 } },
  glossary: {
    ausleihe: term('Ausleihe', 'Was Sie mit nach Hause nehmen, für vier Wochen.', 'Content'),
    vormerkung: term('Vormerkung', 'Ein Platz in der Reihe für etwas, das verliehen ist.', 'Content'),
  },
};

interface RecordService {
  app(site: string, app: string): Promise<{ key: object } | null>;
  store(): {
    transact(
      work: (unit: {
        create(key: object, record: { id: string; items: Items; creator: null }): Promise<unknown>;
      }) => Promise<void>,
    ): Promise<void>;
  };
}

/** Makes records, so that each page of the demo shows something; those of apps that the site's theme has. */
export async function makeRecords(strapi: Core.Strapi): Promise<void> {
  const service: RecordService = strapi.plugin('apps').service('records');
  const site = strapi.config.get<string>('plugin::apps.sites.0.id', 'site');
  for (const [id, apps] of Object.entries({ [site]: library, bibliothek: buecherei }))
    for (const [name, records] of Object.entries(apps)) {
      const app = await service.app(id, name);
      if (!app) continue;
      await service.store().transact(async (unit) => {
        for (const [record, items] of Object.entries(records))
          await unit.create(app.key, { id: record, items, creator: null });
      });
    }
}
