import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violations, violationsWithoutScript } from '../support/accessibility';
import { hasBrowser, keepPicture } from '../support/browser';
import { useBrowser, useHost } from '../support/hooks';
import { printedPasswords } from './apps/visitor';

type Screen = readonly [javaScriptEnabled: boolean, viewport: { width: number; height: number }, 'light' | 'dark'];

/** Each way, width and colour scheme once; pages.test.ts has the other combinations. */
const screens: Screen[] = [
  [true, { width: 1280, height: 800 }, 'light'],
  [false, { width: 390, height: 800 }, 'dark'],
];

describe.skipIf(!hasBrowser)('visits of the demo', () => {
  const host = useHost({ env: { APPS_DEMO: 'empty' } });
  const browser = useBrowser();

  async function visit([javaScriptEnabled, viewport, colorScheme]: Screen) {
    const { page, context } = await browser.visitor({ javaScriptEnabled, viewport, colorScheme, bypassCSP: true });
    /** Each page is one of the site, fits, and has no violation. */
    const look = async (name: string) => {
      expect(await page.locator('header nav').count()).toBe(1);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      expect(await (javaScriptEnabled ? violations : violationsWithoutScript)(page)).toEqual([]);
      await keepPicture(page, `${name}-${viewport.width}-${colorScheme}`);
    };
    return { page, context, look };
  }

  describe('the survey in steps', () => {
    const step = (page: Page, title: string) =>
      page.waitForSelector(`.apps-steps [aria-current=step]:text-is("${title}")`);

    test.each(screens)('from the first page to thanks; script: %s, %j, %s', async (...screen) => {
      const { page, context, look } = await visit(screen);
      await page.goto(`${host.url}/site/@@survey`);
      await page.getByRole('link', { name: 'Rather in three steps?' }).click();
      await step(page, 'You and us');
      await look('steps-1');
      await page.fill('[name=name]', 'N');
      await page.check('[name=frequency][value=weekly]');
      // The browser's own checks come first; the server's are for those without them.
      await page.evaluate(() => document.querySelector('form')?.setAttribute('novalidate', ''));
      await page.click('[name=_next]:visible');
      await page.getByRole('alert').waitFor();
      await look('steps-wrong');
      await page.fill('[name=name]', 'Nora');
      await page.click('[name=_next]:visible');
      await step(page, 'What you read');
      await page.check('[name=topics][value=News]');
      await page.fill('[name=score]', '9');
      await look('steps-2');
      await page.click('[name=_back]:visible');
      await step(page, 'You and us');
      expect(await page.isChecked('[name=frequency][value=weekly]')).toBe(true);
      await page.click('[name=_next]:visible');
      await step(page, 'What you read');
      await page.click('[name=_next]:visible');
      await step(page, 'Before you go');
      await page.check('[name=newsletter]');
      await page.fill('[name=email]', 'nora@example.org');
      await look('steps-3');
      await page.click('[name=_save]:visible');
      await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
      await look('steps-thanks');
      await context.close();
    });

    test('its answers are stored like those of the survey on one page', async () => {
      const stored = await host.run(async (strapi) => {
        const rows = await strapi.db.query('plugin::apps.record').findMany({});
        return rows.map(({ items }: { items: unknown }) => (typeof items === 'string' ? JSON.parse(items) : items));
      });
      expect(stored).toHaveLength(screens.length);
      for (const answer of stored)
        expect(answer).toMatchObject({
          block: 'answer',
          name: 'Nora',
          topics: ['News'],
          email: 'nora@example.org',
          verdict: 'fan',
        });
    });
  });

  describe('the glossary in two languages', () => {
    /** Words of the theme, the app and the service on each site. */
    const words = {
      site: /Skip to|Glossary|Search|Topic|Log |terms|Term\b|Meaning|Edit|Delete|Save|Please|Saturday|All /,
      bibliothek:
        /Zum Inhalt|Glossar\b|Such|Thema|Themen|melden|Begriff|Bedeutung|Bearbeiten|Löschen|Bitte|Samstag|Alle /,
    };
    /** What the other site's pages say is on none of this one, but for the link to it. */
    async function speaks(page: Page, site: keyof typeof words) {
      const other = site === 'site' ? 'bibliothek' : 'site';
      const text = await page.evaluate(() => {
        const copy = document.body.cloneNode(true) as HTMLElement;
        for (const link of Array.from(copy.querySelectorAll('[hreflang], script'))) link.remove();
        const said = Array.from(copy.querySelectorAll('[placeholder], [aria-label]'), (one) =>
          ['placeholder', 'aria-label'].map((name) => one.getAttribute(name)).join(' '),
        );
        return [document.title, copy.textContent, ...said].join('\n');
      });
      expect(text).toMatch(words[site]);
      expect(words[other].exec(text)?.[0] ?? null).toBeNull();
      expect(await page.getAttribute('html', 'lang')).toBe(site === 'site' ? 'en' : 'de');
    }

    const texts = {
      site: {
        term: 'Quarto',
        meaning: 'A book whose sheets were folded twice.',
        labels: ['Term', 'Meaning', 'Web', 'Save the term'],
        login: ['Log in', 'Name or e-mail', 'Password'],
        empty: 'Please fill in this field.',
      },
      bibliothek: {
        term: 'Oktav',
        meaning: 'Ein Buch, dessen Bogen dreimal gefaltet wurden.',
        labels: ['Begriff', 'Bedeutung', 'Netz', 'Begriff speichern'],
        login: ['Anmelden', 'Name oder E-Mail', 'Passwort'],
        empty: 'Bitte füllen Sie dieses Feld aus.',
      },
    } as const;

    test.each([
      ['site', true, { width: 1280, height: 800 }, 'light'],
      ['bibliothek', true, { width: 390, height: 800 }, 'dark'],
      ['bibliothek', false, { width: 1280, height: 800 }, 'light'],
    ] as const)('%s is wholly in its language; script: %s, %j, %s', async (site, script, viewport, scheme) => {
      const { term, meaning, labels, login, empty } = texts[site];
      const { page, context, look } = await visit([script, viewport, scheme]);
      const see = async (name: string) => {
        await speaks(page, site);
        await look(`${site}-${name}`);
      };
      await page.goto(`${host.url}/${site}/@@glossary`);
      await see('glossary');
      await page.getByRole('link', { name: login[0] }).click();
      await page.getByLabel(login[1]).fill('anna');
      await page.getByLabel(login[2]).fill(printedPasswords(host).anna ?? '');
      await page.getByRole('main').getByRole('button', { name: login[0] }).click();
      // The next navigation would end the request.
      await page.waitForURL((url) => !url.pathname.endsWith('@@login'));
      await page.goto(`${host.url}/${site}/@@apps/glossary/blocks/term`);
      await page.evaluate(() => document.querySelector('form[name=term]')?.setAttribute('novalidate', ''));
      await page.getByLabel(labels[0]).fill(term);
      await page.getByRole('button', { name: labels[3] }).click();
      expect(await page.getByRole('alert').textContent()).toBe(empty);
      await see('term-wrong');
      await page.getByLabel(labels[1]).fill(meaning);
      await page.getByLabel(labels[2]).check();
      await page.getByRole('button', { name: labels[3] }).click();
      await page.getByRole('heading', { name: term }).waitFor();
      await see('term');
      await page.goto(`${host.url}/${site}/@@glossary?topic=Web&q=${term}`);
      await page.getByRole('definition').first().waitFor();
      await see('found');
      await context.close();
    });

    test('each site leads to the other', async () => {
      const { page, context } = await visit([true, { width: 1280, height: 800 }, 'light']);
      await page.goto(`${host.url}/site/@@glossary`);
      await page.getByRole('link', { name: 'Glossar auf Deutsch' }).click();
      await page.waitForURL(`${host.url}/bibliothek/@@glossary`);
      expect(await page.locator('dl.glossary').textContent()).not.toContain('Quarto');
      await page.getByRole('link', { name: 'English' }).click();
      await page.waitForURL(`${host.url}/site/@@glossary`);
      await page.goto(`${host.url}/bibliothek/nothing-here`);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Nicht gefunden');
      await context.close();
    });
  });
});
