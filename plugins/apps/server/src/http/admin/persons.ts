import type { Context } from 'koa';
import { z } from 'zod';
import {
  type ErasedPerson,
  type FoundPerson,
  PERSON_HEADER,
  type PersonGroup,
  type personRoutes,
} from '../../../../shared/admin-api';
import { percentDecoded } from '../../common/text';
import { bodyOf, must, validateBody } from '../../common/validation';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { administratorOf, type Handlers } from './handler';

const body = bodyOf({ who: z.string(must('an e-mail address or a user')) });

const whoOf = (ctx: Context): string => validateBody(body, jsonObject(ctx)).who;

/** What the admin routes of persons answer (shared/admin/persons.ts). */
export const personHandlers: Handlers<typeof personRoutes> = {
  async findPerson(ctx, { persons }): Promise<FoundPerson> {
    ctx.set('Cache-Control', 'private, no-store');
    return persons.find(whoOf(ctx));
  },

  async exportPerson(ctx, services) {
    const who = percentDecoded(ctx.get(PERSON_HEADER)) ?? '';
    const stream = await audited(ctx, services, who, 'person-export', () => services.persons.export(who));
    ctx.set('Cache-Control', 'private, no-store');
    ctx.set('Content-Disposition', 'attachment; filename="person.zip"');
    ctx.type = 'application/zip';
    return stream;
  },

  async erasePerson(ctx, services): Promise<ErasedPerson> {
    const who = whoOf(ctx);
    const erased = await audited(ctx, services, who, 'person-erase', () => services.persons.erase(who));
    const { identity } = await administratorOf(ctx, services);
    const what = inWords(erased.groups);
    if (what) services.logger.info(`[apps] ${identity} has erased ${services.persons.reference(who)}: ${what}`);
    return erased;
  },
};

/** Runs work on a person with an entry of the audit log, which has a keyed hash in place of the address. */
async function audited<T>(
  ctx: Context,
  services: HttpServices,
  who: string,
  action: 'person-export' | 'person-erase',
  work: () => Promise<T>,
): Promise<T> {
  const { identity, username: name } = await administratorOf(ctx, services);
  const about = { site: null, app: null, block: null, unsaved: [], requester: services.persons.reference(who) };
  return services.audit.run({ administrator: { identity, name }, action, ...about }, work, () => 200);
}

const inWords = (groups: readonly PersonGroup[]): string =>
  groups
    .map(({ count, kind, app, does }) => `${count} ${kind}${app === null ? '' : ` of ${app}`} (${does})`)
    .join(', ');
