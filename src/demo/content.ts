import type { Core } from '@strapi/strapi';

/** A tile: a block of one of the demo theme's apps, by `<app_id>/blocks/<block_id>`. */
const tile = (block: string) => ({ __component: 'tiles.block' as const, block });

/** The fields of an entry, and those of its translation for the second site. */
interface Translated {
  en: Record<string, unknown>;
  de: Record<string, unknown>;
}

const articles: Translated[] = [
  {
    en: {
      title: 'Welcome',
      slug: 'welcome',
      summary: 'One card for books, films, music and a quiet table by the window.',
      body: `Anyone who lives, works or goes to school in Lindenau gets a card at the desk. It is free, and it takes two minutes.

## With your card

- borrow up to **30 items** for four weeks
- reserve what somebody else is reading
- use the printers, the sewing machine and the music room

Bring something with your name and address on it. Children under twelve come with an adult.`,
      secret: 'Private fields stay in the host: no block can read this one.',
      tiles: [tile('rating/blocks/rate')],
    },
    de: {
      title: 'Willkommen',
      slug: 'willkommen',
      summary: 'Ein Ausweis für Bücher, Filme, Musik und einen ruhigen Tisch am Fenster.',
      body: `Wer in Lindenau wohnt, arbeitet oder zur Schule geht, bekommt am Schalter einen Ausweis. Er kostet nichts, und es dauert zwei
Minuten.

## Mit Ihrem Ausweis

- leihen Sie bis zu **30 Medien** für vier Wochen
- merken Sie vor, was gerade jemand anderes liest
- benutzen Sie Drucker, Nähmaschine und Musikzimmer

Bringen Sie etwas mit, auf dem Ihr Name und Ihre Anschrift stehen. Kinder unter zwölf kommen mit einem Erwachsenen.`,
      secret: 'Private Felder bleiben im Host: Kein Block kann dieses lesen.',
      tiles: [tile('rating/blocks/rate')],
    },
  },
  {
    en: {
      title: 'A new room for children',
      slug: 'room-for-children',
      summary: 'Low shelves, a reading boat and stories every Saturday at ten.',
      body: `The old newspaper archive has become a room for children. The shelves are low enough to climb (please do not), the boat in
the middle seats six readers, and on Saturdays at ten somebody reads aloud.

> The boat is the best. You can read in it even when there is no water.
>
> *Mina, seven*`,
      tiles: [tile('rating/blocks/rate')],
    },
    de: {
      title: 'Ein neuer Raum für Kinder',
      slug: 'raum-fuer-kinder',
      summary: 'Niedrige Regale, ein Leseboot und jeden Samstag um zehn Geschichten.',
      body: `Aus dem alten Zeitungsarchiv ist ein Raum für Kinder geworden. Die Regale sind niedrig genug zum Klettern (bitte nicht), im
Boot in der Mitte haben sechs Leser Platz, und samstags um zehn liest jemand vor.

> Das Boot ist das Beste. Man kann darin lesen, auch wenn kein Wasser da ist.
>
> *Mina, sieben*`,
      tiles: [tile('rating/blocks/rate')],
    },
  },
  {
    en: {
      title: 'Reading group on Thursdays',
      slug: 'reading-group',
      summary: 'A novel a month, tea, and no homework.',
      body: `We meet on the first Thursday of each month at **19:00** in the garden room. You may come without having finished the book.

| Month | Book |
|---|---|
| September | Tove Jansson, *The Summer Book* |
| October | Chinua Achebe, *Things Fall Apart* |
| November | Wisława Szymborska, *View with a Grain of Sand* |`,
      tiles: [],
    },
    de: {
      title: 'Lesekreis am Donnerstag',
      slug: 'lesekreis',
      summary: 'Jeden Monat ein Roman, Tee, und keine Hausaufgaben.',
      body: `Wir treffen uns am ersten Donnerstag jedes Monats um **19 Uhr** im Gartenzimmer. Sie dürfen kommen, ohne das Buch ausgelesen zu
haben.

| Monat | Buch |
|---|---|
| September | Tove Jansson, *Das Sommerbuch* |
| Oktober | Chinua Achebe, *Alles zerfällt* |
| November | Wisława Szymborska, *Hundert Freuden* |`,
      tiles: [],
    },
  },
];

const pages: Translated[] = [
  {
    en: {
      title: 'About',
      slug: 'about',
      body: `The library was founded by the weavers of Lindenau in 1887, with 212 books and one lamp. Today 41,000 books, games and films
share the house with a repair café and the town's archive.

The site is a demo: its likes, comments, glossary, survey and contact form are small applications in the theme.`,
      tiles: [],
    },
    de: {
      title: 'Über uns',
      slug: 'ueber-uns',
      body: `Die Bücherei wurde 1887 von den Webern von Lindenau gegründet, mit 212 Büchern und einer Lampe. Heute teilen sich 41.000 Bücher,
Spiele und Filme das Haus mit einem Reparaturcafé und dem Stadtarchiv.

Die Website ist eine Demo: „Gefällt mir“, Kommentare und Glossar sind kleine Anwendungen im Theme.`,
      tiles: [],
    },
  },
  {
    en: {
      title: 'Contact',
      slug: 'contact',
      body: 'Library of Lindenau, Mill Lane 4. Write to us: the editors read every message.',
      tiles: [],
    },
    de: {
      title: 'Kontakt',
      slug: 'kontakt',
      body: 'Bücherei Lindenau, Mühlgasse 4. Besuchen Sie uns: Am Schalter hat immer jemand Zeit.',
      tiles: [],
    },
  },
];

/** The language of the demo's second site, beside Strapi's default. */
const german = { code: 'de', name: 'German (de)' };

/** Makes a few published articles and pages, in the languages of both sites. */
export async function makeContent(strapi: Core.Strapi): Promise<void> {
  await strapi.plugin('i18n').service('locales').create(german);
  const { code: locale } = german;
  for (const { en, de } of articles) {
    const documents = strapi.documents('api::article.article');
    const { documentId } = await documents.create({ data: en, status: 'published' });
    await documents.update({ documentId, locale, data: de, status: 'published' });
  }
  for (const { en, de } of pages) {
    const documents = strapi.documents('api::page.page');
    const { documentId } = await documents.create({ data: en });
    await documents.update({ documentId, locale, data: de });
  }
}
