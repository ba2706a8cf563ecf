import type { Host } from '../../support/host';
import { send } from '../../support/send';

export interface LiveSettings {
  live: string[];
  since: string;
}

/** The settings of a block for the browser's script, as a page has them. */
export async function settingsOf(host: Host, block: string): Promise<LiveSettings> {
  const answer = await send(host.url, {
    method: 'GET',
    path: `/site/@@apps/talk/blocks/${block}`,
    headers: { accept: 'text/html' },
  });
  const text = /data-apps-settings='([^']+)'/.exec(answer.text)?.[1]?.replaceAll('&amp;', '&') ?? '{}';
  return JSON.parse(text);
}

/** A page that waits for changes. */
export interface LivePage {
  /** How many times it was woken. */
  woken(): number;
  /** The position of the last event. */
  position(): string;
  end(): Promise<void>;
}

/** Opens the connection of a page; resolves when it waits. */
export async function connect(host: Host, { live, since }: LiveSettings, lastEvent?: string): Promise<LivePage> {
  const abort = new AbortController();
  const url = `${host.url}/site/@@apps.live?t=${live.join()}&since=${since}`;
  const headers: Record<string, string> = lastEvent ? { 'last-event-id': lastEvent } : {};
  const { body, status } = await fetch(url, { signal: abort.signal, headers });
  if (status !== 200 || !body) throw new Error(`live connection: ${status}`);
  let text = '';
  const reader = body.getReader();
  const next = async () => {
    const { done, value } = await reader.read();
    text += Buffer.from(value ?? []).toString();
    return !done;
  };
  while (!text.includes('event: alive')) await next();
  const reading = (async () => {
    while (await next());
  })().catch(() => undefined);
  return {
    woken: () => text.split('event: change').length - 1,
    position: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '',
    async end() {
      abort.abort();
      await reading;
    },
  };
}
