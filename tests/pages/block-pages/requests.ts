import type { Stage } from '../../support/stage';
import { html, type Row } from '../../support/stage';

export type Form = Record<string, string>;

/** Requests to pages of the app flow. */
export function requestsTo(stage: Stage) {
  const get = (path: string, rest: Partial<Row> = {}) => stage.send({ send: `GET ${path}`, accept: html, ...rest });

  const post = (path: string, form: Form, rest: Partial<Row> = {}) =>
    stage.send({ send: `POST ${path}`, accept: html, form, ...rest });

  const clear = () => stage.send({ as: 'mona', send: 'DELETE flow/records' });

  const ids = async () => {
    const { json } = await stage.send<{ id: string }[]>({ as: 'mona', send: 'GET flow/records' });
    return json.map(({ id }) => id);
  };

  const app = () => `${stage.host.url}/site/@@apps/flow`;

  return { get, post, clear, ids, app };
}
