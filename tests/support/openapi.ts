import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll } from 'vitest';
import { type Answer, type Message, observeAnswers } from './send';
import type { Stage } from './stage';

interface Operation {
  requestBody?: Referable;
  responses: Record<string, Referable>;
}
interface Referable {
  $ref?: string;
  content?: Record<string, unknown>;
}
type Methods = Record<string, Operation | undefined>;

/** An OpenAPI document, as far as the tests read it. */
export interface OpenApi {
  openapi: string;
  paths: Record<string, Methods>;
  components: { responses: Record<string, Referable>; schemas: Record<string, unknown> };
}

/**
 * Checks every JSON answer that the tests of a file or `describe` get from an app of a stage against the app's OpenAPI
 * document (docs/reference/openapi.md): its status, its media type and its body; and the bodies of requests that succeeded.
 */
export function useOpenApi(stage: Stage): void {
  let end = () => undefined as unknown;
  let checked = 0;
  beforeAll(() => {
    const checkers = new Map<string, Promise<Checker | null>>();
    let isFetching = false;
    end = observeAnswers(async (origin, message, answer) => {
      const [, app, rest = ''] =
        /^\/site(?:\/[^@]+)?\/@@apps\/([A-Za-z0-9_.-]+)(?:\/([^?]*))?(?:\?.*)?$/.exec(message.path) ?? [];
      if (isFetching || !app || origin !== stage.host.url) return;
      let checker = checkers.get(app);
      if (!checker) {
        isFetching = true;
        checker = fetchChecker(stage, app).finally(() => {
          isFetching = false;
        });
        checkers.set(app, checker);
      }
      const check = await checker;
      if (!check) return;
      check(pathOf(app, rest), message, answer);
      checked += 1;
    });
  });
  afterAll(() => {
    end();
    // Otherwise nothing would tell that the addresses are no longer recognised.
    if (checked === 0) throw new Error('No answer was checked against its OpenAPI document.');
  });
}

type Checker = (path: string, message: Message, answer: Answer) => void;

async function fetchChecker(stage: Stage, app: string): Promise<Checker | null> {
  const { status, json } = await stage.send<OpenApi>({ as: 'mona', send: `GET ${app}/openapi.json` });
  return status === 200 ? createChecker(json) : null;
}

/** The path of the document for an address below the app. */
function pathOf(app: string, rest: string): string {
  const whole = `/${app}/${rest}`.replace(/\/$/, '');
  return /^record(\/|%2F)/i.test(rest) ? `/${app}/record/{record_id}` : whole;
}

/** Throws an Error that says how an answer, or the body of a request, differs from the document. */
export function createChecker(document: OpenApi): Checker {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false });
  addFormats(ajv);
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();
  const check = (what: string, pointer: string[], value: unknown) => {
    const key = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = compiled.get(key) ?? ajv.compile({ $ref: `document#/${key}` });
    compiled.set(key, validate);
    if (validate(value)) return;
    throw new Error(
      `${what} is not as the document says: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value).slice(0, 500)}`,
    );
  };
  return (path, message, answer) => {
    const type = String(answer.headers['content-type'] ?? '').replace(/;.*/, '');
    if (type === 'text/html' || message.method === 'HEAD' || message.method === 'OPTIONS' || answer.text === '') return;
    const what = `${message.method} ${path} ${answer.status}`;
    const operation = document.paths[path]?.[message.method.toLowerCase()];
    // An address or method that the document does not have: any error.
    if (!operation) return check(what, ['components', 'schemas', 'Error'], answer.json);
    const at = ['paths', path, message.method.toLowerCase()];
    const name = String(answer.status) in operation.responses ? String(answer.status) : 'default';
    const response = operation.responses[name];
    if (!response) throw new Error(`${what} is not in the document: ${answer.text.slice(0, 500)}`);
    const reference = response.$ref?.slice('#/'.length).split('/');
    const content = reference ? document.components.responses[reference[2] ?? '']?.content : response.content;
    if (content && !(type in content)) throw new Error(`${what} is ${type}, which the document does not say`);
    if (content && type === 'application/json') {
      check(what, [...(reference ?? [...at, 'responses', name]), 'content', type, 'schema'], answer.json);
    }
    if (answer.status < 300 && message.json !== undefined && operation.requestBody) {
      check(`The body of ${what}`, [...at, 'requestBody', 'content', 'application/json', 'schema'], message.json);
    }
  };
}
