import type { Core } from '@strapi/strapi';

const VERSION = 'plugin::apps.version';

/** Versions that are kept of one file, and of all files of an app. */
const MAX = { file: 20, app: 400 };

interface AppFile {
  theme: string;
  app: string;
  path: string;
}

interface Row extends AppFile {
  id: number;
  text: string | null;
  author: string | null;
  createdAt: string;
}

/** Texts of app files before they were changed, in the host's database. */
export interface Versions {
  /** Keeps what a change has replaced; the oldest beyond the bounds are removed. */
  keep(file: AppFile, text: string, author: string | null): Promise<void>;
  /** The latest first. */
  list(file: AppFile): Promise<{ id: number; at: string; author: string | null; size: number }[]>;
  /** The text of a version of the app; null for an unknown one. */
  text(app: Omit<AppFile, 'path'>, id: number): Promise<string | null>;
}

export function createVersions(strapi: Core.Strapi): Versions {
  const rows = () => strapi.db.query(VERSION);
  const prune = async (where: object, size: number): Promise<void> => {
    const [last]: Row[] = await rows().findMany({
      where,
      orderBy: { id: 'desc' },
      offset: size,
      limit: 1,
      select: ['id'],
    });
    if (last) await rows().deleteMany({ where: { $and: [where, { id: { $lte: last.id } }] } });
  };
  return {
    async keep({ theme, app, path }, text, author) {
      await rows().create({ data: { theme, app, path, text, author } });
      await prune({ theme, app, path }, MAX.file);
      await prune({ theme, app }, MAX.app);
    },
    async list({ theme, app, path }) {
      const found: Row[] = await rows().findMany({
        where: { theme, app, path },
        orderBy: { id: 'desc' },
        limit: MAX.file,
      });
      return found.map(({ id, createdAt, author, text }) => ({
        id,
        at: new Date(createdAt).toISOString(),
        author,
        size: (text ?? '').length,
      }));
    },
    async text({ theme, app }, id) {
      const row: Row | null = await rows().findOne({ where: { id, theme, app } });
      return row && (row.text ?? '');
    },
  };
}
