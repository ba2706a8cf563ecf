import type { Items } from '../../../../shared/json';
import type { Requesters } from '../../auth';
import type { Requester } from '../../auth/types';
import { trimSlashes } from '../../sites';
import type { ContentItem, Site } from '../../sites/types';
import type { Visit } from './types';

/** The visit of a call from code or the admin panel: a POST to `address`. @param call `params` are copied as JSON */
export function callVisit(
  { requesters }: { requesters: Pick<Requesters, 'csrf'> },
  call: { site: Site; content: ContentItem; requester: Requester; address: string; params: Items },
): Visit {
  const { site, content, requester, params } = call;
  const { href, pathname } = new URL(call.address);
  return {
    site,
    content,
    // An item of another site, or of none, has no address in this site.
    contentPath: content.url?.startsWith(`${site.url}/`) ? trimSlashes(content.path) : '',
    requester,
    request: { method: 'POST', url: href, path: pathname, query: {}, form: {}, body: null, headers: {} },
    parentRequest: null,
    writes: { records: true, content: true },
    isCall: true,
    params: JSON.parse(JSON.stringify(params)) as Items,
    csrfToken: () => requesters.csrf.issue(requester),
    pendingLog: [],
  };
}
