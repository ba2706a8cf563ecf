import { browserScript } from '../../apps';
import { notFound } from '../../common/errors';
import type { OwnFile } from '../../common/own-files';
import type { Awaitable } from '../../common/time/awaitable';
import type { Address } from '../../sites/types';
import { getSiteOpenApi } from '../app/openapi-handlers';
import type { Located } from '../request/stages';
import { requireRead, sendFile, sendOwnFile } from './assets';
import { answerLive } from './live';
import { login, logout, requireLoginMethod } from './login';

/** Addresses whose answer is the same for all requesters. */
export const isPublic: ReadonlySet<Address['kind']> = new Set([
  'theme-asset',
  'script',
  'live-script',
  'style',
  'reload',
  'reload-script',
]);

/** Addresses of a site with neither content nor an app behind them. */
type Own = Exclude<Address['kind'], 'app' | 'page' | 'view'>;

type Answer<Kind extends Own> = (request: Located<Extract<Address, { kind: Kind }>>) => Awaitable<void>;

const ownFile =
  (type: string, file: (request: Located) => Promise<OwnFile>) =>
  async (request: Located): Promise<void> => {
    requireRead(request.ctx);
    await sendOwnFile(request.ctx, type, await file(request));
  };

const answers: { [Kind in Own]: Answer<Kind> } = {
  async 'theme-asset'({ ctx, services, address }) {
    requireRead(ctx);
    const file = await services.sites.asset(address);
    if (!file) throw notFound('There is no such file');
    await sendFile(ctx, file);
  },
  reload({ ctx, services }) {
    if (!services.reloads) throw notFound('Only the command `dev` reloads pages');
    services.reloads.answer(ctx);
  },
  script: ownFile('js', ({ services, site }) => browserScript(services, site)),
  'live-script': ownFile('js', ({ services }) => services.ownFiles.file('live.js')),
  style: ownFile('css', ({ services }) => services.ownFiles.file('apps.css')),
  'reload-script': ownFile('js', ({ services }) => services.ownFiles.file('reload.js')),
  login({ ctx, services, site }) {
    requireLoginMethod(ctx);
    return login(ctx, services, site);
  },
  logout({ ctx, services, site }) {
    requireLoginMethod(ctx);
    return logout(ctx, services, site);
  },
  async openapi(request) {
    const { ctx, services, site } = request;
    const requester = await services.requesters.identify(ctx);
    Object.assign(request, { requester });
    await getSiteOpenApi(ctx, services, site, requester);
  },
};

/** Answers a request for neither: one of an address that each site has. */
export function answerOwn(request: Located): Awaitable<void> {
  const { ctx, services, address } = request;
  if (address.kind === 'view') return answerLive(ctx, services.live);
  return (answers[address.kind as Own] as (request: Located) => Awaitable<void>)(request);
}
