import { type Liquid, LiquidError } from 'liquidjs';
import { didYouMean } from '../../common/did-you-mean';
import { type AppsError, definitionError, isAppsError } from '../../common/errors';
import { MarkError } from './marks';

/** Runs work on a layout; its errors are DefinitionErrors with the position in the layout. */
export function asDefinitionError<T>(path: string, liquid: Liquid, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw definitionErrorOf(error, path, liquid);
  }
}

/**
 * The error as an AppsError: unchanged if it is one, otherwise a DefinitionError with the position that Liquid gives, which
 * may be in a partial.
 */
export function definitionErrorOf(error: unknown, file: string, liquid?: Liquid): AppsError {
  if (isAppsError(error)) return error;
  if (error instanceof MarkError) return definitionError(error.message, { file, ...error.position });
  if (!LiquidError.is(error)) return definitionError(messageOf(error), { file }, error);
  const { originalError, token } = error as LiquidError & {
    token: { file?: string; getPosition(): [number, number] };
  };
  if (isAppsError(originalError)) return originalError;
  const [line, column] = token.getPosition();
  const message = originalError
    ? messageOf(originalError)
    : error.message.replace(/(, file:[^\n]*)?, line:\d+, col:\d+$/, '');
  return definitionError(explained(message, liquid), { file: token.file ?? file, line, column }, error);
}

/** Tags of Liquid that layouts do not have, and what to write instead. */
const replaced: Readonly<Record<string, string>> = {
  include: ': write {% render "name" %}, which shows partials/name.html',
  layout: ': the theme has one layout, layout.html',
};

/** Liquid's message about what it does not know or cannot read, with what to write instead. */
function explained(message: string, liquid: Liquid | undefined): string {
  const filter = /^undefined filter: (.+)$/.exec(message)?.[1];
  if (filter !== undefined)
    return `There is no filter "${filter}"${didYouMean(filter, Object.keys(liquid?.filters ?? {})) || '.'}`;
  const tag = /^tag "(.+)" not found$/.exec(message)?.[1];
  if (tag !== undefined && /^(?:end|else|elsif|when)/.test(tag)) return `The tag "${tag}" has no beginning before it`;
  if (tag !== undefined) {
    const meant = Object.hasOwn(replaced, tag) ? replaced[tag] : didYouMean(tag, Object.keys(liquid?.tags ?? {}));
    return `There is no tag "${tag}"${meant || '.'}`;
  }
  const [, kind, opened] = /^(output|tag) (?:"|\{% *-? *(\w+)).* not closed$/s.exec(message) ?? [];
  if (kind !== undefined)
    return `${message}: write ${opened === undefined ? (kind === 'tag' ? '%}' : '}}') : `{% end${opened} %}`} at its end`;
  if (message === 'expected "|" before filter')
    return `${message}: put texts in quotes, and compare with == instead of =`;
  return message;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
