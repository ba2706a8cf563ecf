import type { Stage } from '../../support/stage';

export interface Entry {
  path: string;
  id: string;
  items: Record<string, unknown>;
}

/** Requests of a manager to the records of an app. */
export function requestsTo(stage: Stage) {
  const root = () => `${stage.host.url}/site/@@apps`;

  const clear = (app: string) => stage.send({ as: 'mona', send: `DELETE ${app}/records` });

  const post = (app: string, json: unknown) => stage.send({ as: 'mona', send: `POST ${app}/records`, json });

  const list = async (app: string, query = '') => {
    const answer = await stage.send<Entry[]>({ as: 'mona', send: `GET ${app}/records${query}` });
    return answer.json.map(({ id }) => id);
  };

  return { root, clear, post, list };
}
