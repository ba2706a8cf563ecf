import { didYouMean } from '../../common/did-you-mean';
import { methodsOf } from '../host-functions/declarations';

const words = (text: string) => text.split(' ');

const url = 'id url absolute_url';

/** Members of the objects of `context` beside the host functions, by the usual names of these objects. */
const ownMembers: Record<string, { type: string; names: string[] }> = {
  context: {
    type: 'Context',
    names: words('app block record request parent_request portal now content api params modules escape'),
  },
  app: { type: 'App', names: words(`${url} settings blocks indexes acl messages add_message get_block`) },
  record: { type: 'AppRecord', names: words(`${url} uid get items set_block`) },
  acl: {
    type: 'Acl',
    names: words('current_user current_user_groups has_access_right has_role roles is_manager'),
  },
  request: { type: 'Request', names: words('method url URL path query form body headers get has response') },
  response: { type: 'Response', names: words('status') },
  portal: { type: 'Portal', names: words(`${url} title theme locale time_zone day_begin get`) },
  content: { type: 'Content', names: words(`${url} type documentId title path absolute_url_path get`) },
  api: { type: 'Api', names: words('user content') },
};

/** Members of the objects of `context`, by the usual names of these objects. */
export const members: Record<string, string[]> = Object.fromEntries(
  Object.entries(ownMembers).map(([object, { type, names }]) => [object, [...names, ...methodsOf(type)]]),
);

/** Characters of a line that are searched. */
const MAX_LINE = 1_000;

const member = new RegExp(`\\b(${Object.keys(members).join('|')})\\.(?=([A-Za-z_]\\w{0,60}))`, 'g');

/**
 * `, did you mean "get_record"?` for a line of logic that has failed: the first unknown member of an object of `context`
 * that is similar to a known one. Only a guess, because another part of the line may have failed.
 */
export function misspeltMember(line: string): string {
  for (const [, object = '', name = ''] of line.slice(0, MAX_LINE).matchAll(member)) {
    const known = members[object] ?? [];
    const hint = known.includes(name) ? '' : didYouMean(name, known);
    if (hint !== '') return hint.replace('"', `"${object}.`);
  }
  return '';
}
